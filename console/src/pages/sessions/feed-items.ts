/** What a person reads of a session, each made from one event or more. */
import type { StreamedEvent } from '../../api/event-stream.ts';

type Tone = 'plain' | 'good' | 'bad';

/** Characters of a command's output that are shown, from its end. */
const MAX_OUTPUT = 4_000;
/** Events contain so much of a message; the transcript has all of it. */
const MAX_MESSAGE = 2_000;

interface Items {
  readonly message: {
    readonly text: string;
    readonly at: string;
    /** The run that has read it. */
    readonly turn: string | undefined;
  };
  readonly answer: { readonly text: string; readonly at: string; readonly isDone: boolean };
  readonly call: {
    readonly summary: string;
    readonly state: 'running' | 'done' | 'failed';
    readonly at: string;
    readonly output: string;
    readonly code?: string;
    readonly preview?: string;
    readonly ms?: number;
  };
  readonly approval: {
    readonly id: string;
    readonly summary: string;
    readonly reason: string;
    /** In words, once it is decided. */
    readonly outcome?: string;
    readonly isGood?: boolean;
  };
  /** Work that the session has given to another one. */
  readonly child: {
    readonly what: 'subagent' | 'delegation';
    readonly label: string;
    readonly session: string;
    readonly state: 'running' | 'done' | 'failed';
    readonly preview: string;
  };
  readonly note: { readonly tone: Tone; readonly text: string; readonly at: string };
}

type Kind = keyof Items;
type Item<Of extends Kind> = Items[Of] & { readonly kind: Of; readonly key: string };
export type FeedItem = { [Of in Kind]: Item<Of> }[Kind];

/** What the row of an item of the kind gets. */
export interface ItemOf<Of extends Kind> {
  readonly item: Item<Of>;
}

/** Things of a session in the order in which they began. An event of one that is there changes it. */
export function createItems() {
  const items = new Map<string, FeedItem>();
  const attempts = new Map<string, number>();

  const put = <Of extends Kind>(kind: Of, key: string, item: Items[Of]): void =>
    void items.set(key, { ...item, kind, key } as unknown as FeedItem);
  /** What is there under the key; keys of kinds differ. */
  const known = <Of extends Kind>(_kind: Of, key: string) => items.get(key) as Items[Of] | undefined;

  function note(event: StreamedEvent, tone: Tone, text: string): void {
    put('note', `event ${event.id}`, { tone, text, at: event.at });
  }

  function approval({ data }: StreamedEvent, outcome?: { outcome: string; isGood: boolean }): void {
    const id = textOf(data['approval_id']);
    const before = known('approval', id) ?? { id, summary: textOf(data['summary']), reason: '' };
    put('approval', id, { ...before, reason: textOf(data['reason']) || before.reason, ...outcome });
  }

  function child({ data }: StreamedEvent, what: 'subagent' | 'delegation'): void {
    const status = textOf(data['status']);
    put('child', `${what} ${textOf(data[`${what}_id`])}`, {
      what,
      label: textOf(data['label']),
      session: textOf(data['session_key']),
      state: status === '' ? 'running' : status === 'completed' ? 'done' : 'failed',
      preview: textOf(data['preview']),
    });
  }

  function answer(
    { data, at, turn_id: turn }: StreamedEvent,
    change: (text: string) => string,
    isDone: boolean,
  ): void {
    const key = `answer ${turn ?? ''} ${String(data['step'] ?? '')}`;
    const before = known('answer', key);
    const attempt = Number(data['attempt'] ?? attempts.get(key) ?? 1);
    // A model that is called again writes its text again.
    const text = change(attempt === (attempts.get(key) ?? attempt) ? (before?.text ?? '') : '');
    attempts.set(key, attempt);
    put('answer', key, { text, at: before?.at ?? at, isDone });
  }

  const callKey = ({ data }: StreamedEvent): string => `call ${textOf(data['call_id'])}`;

  function call(event: StreamedEvent, change: Partial<Items['call']>): void {
    const { data, at } = event;
    const summary = textOf(data['summary']) || textOf(data['tool']) || 'a call';
    const fresh = { summary, state: 'running', at, output: '' } as const;
    put('call', callKey(event), { ...(known('call', callKey(event)) ?? fresh), ...change });
  }

  return {
    note,
    answer,
    call,
    approval,
    child,
    message({ data, at, turn_id: turn }: StreamedEvent): void {
      const whole = textOf(data['text']);
      const text = whole.length < MAX_MESSAGE ? whole : `${whole}…`;
      put('message', `message ${textOf(data['message_id'])}`, { text, at, turn });
    },
    output(event: StreamedEvent): void {
      const before = known('call', callKey(event))?.output ?? '';
      call(event, { output: (before + textOf(event.data['text'])).slice(-MAX_OUTPUT) });
    },
    list: (): readonly FeedItem[] =>
      [...items.values()].filter((item) => item.kind !== 'answer' || item.text !== ''),
  };
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
