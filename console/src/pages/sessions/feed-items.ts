/** What a person reads of a session, each made from one event or more. */
import type { StreamedEvent } from '../../api/event-stream.ts';

type Tone = 'plain' | 'good' | 'bad';

/** Characters of a command's output that are shown, from its end. */
const MAX_OUTPUT = 4_000;
/** Events contain so much of a message; the transcript has all of it. */
const MAX_MESSAGE = 2_000;

export type FeedItem =
  | {
      readonly kind: 'message';
      readonly key: string;
      readonly text: string;
      readonly at: string;
      /** The run that has read it. */
      readonly turn: string | undefined;
    }
  | {
      readonly kind: 'answer';
      readonly key: string;
      readonly text: string;
      readonly at: string;
      readonly isDone: boolean;
    }
  | {
      readonly kind: 'call';
      readonly key: string;
      readonly summary: string;
      readonly state: 'running' | 'done' | 'failed';
      readonly at: string;
      readonly output: string;
      readonly code?: string;
      readonly preview?: string;
      readonly ms?: number;
    }
  | {
      readonly kind: 'approval';
      readonly key: string;
      readonly id: string;
      readonly summary: string;
      readonly reason: string;
      /** In words, once it is decided. */
      readonly outcome?: string;
      readonly isGood?: boolean;
    }
  | {
      /** Work that the session has given to another one. */
      readonly kind: 'child';
      readonly key: string;
      readonly what: 'subagent' | 'delegation';
      readonly label: string;
      readonly session: string;
      readonly state: 'running' | 'done' | 'failed';
      readonly preview: string;
    }
  | {
      readonly kind: 'note';
      readonly key: string;
      readonly tone: Tone;
      readonly text: string;
      readonly at: string;
    };

/** Things of a session in the order in which they began. An event of one that is there changes it. */
export function createItems() {
  const items = new Map<string, FeedItem>();
  const attempts = new Map<string, number>();

  function note(event: StreamedEvent, tone: Tone, text: string): void {
    const key = `event ${event.id}`;
    items.set(key, { kind: 'note', key, tone, text, at: event.at });
  }

  function approval({ data }: StreamedEvent, outcome?: { text: string; isGood: boolean }): void {
    const id = textOf(data['approval_id']);
    const known = items.get(id);
    const before =
      known?.kind === 'approval'
        ? known
        : { kind: 'approval' as const, key: id, id, summary: textOf(data['summary']), reason: '' };
    const reason = textOf(data['reason']) || before.reason;
    items.set(id, { ...before, reason, ...(outcome && { outcome: outcome.text, isGood: outcome.isGood }) });
  }

  function child({ data }: StreamedEvent, what: 'subagent' | 'delegation'): void {
    const key = `${what} ${textOf(data[`${what}_id`])}`;
    const status = textOf(data['status']);
    const state = status === '' ? 'running' : status === 'completed' ? 'done' : 'failed';
    const [label, session, preview] = [data['label'], data['session_key'], data['preview']].map(textOf);
    items.set(key, {
      kind: 'child',
      key,
      what,
      label: label ?? '',
      session: session ?? '',
      state,
      preview: preview ?? '',
    });
  }

  function answer(event: StreamedEvent, change: (text: string) => string, isDone: boolean): void {
    const key = `answer ${event.turn_id ?? ''} ${String(event.data['step'] ?? '')}`;
    const known = items.get(key);
    const before = known?.kind === 'answer' ? known : undefined;
    const attempt = Number(event.data['attempt'] ?? attempts.get(key) ?? 1);
    // A model that is called again writes its text again.
    const text = change(attempt === (attempts.get(key) ?? attempt) ? (before?.text ?? '') : '');
    attempts.set(key, attempt);
    items.set(key, { kind: 'answer', key, text, at: before?.at ?? event.at, isDone });
  }

  function call(event: StreamedEvent, change: Partial<FeedItem & { readonly kind: 'call' }>): void {
    const key = `call ${textOf(event.data['call_id'])}`;
    const known = items.get(key);
    const summary = textOf(event.data['summary']) || textOf(event.data['tool']) || 'a call';
    const before =
      known?.kind === 'call'
        ? known
        : ({ kind: 'call', key, summary, state: 'running', at: event.at, output: '' } as const);
    items.set(key, { ...before, ...change });
  }

  return {
    note,
    answer,
    call,
    approval,
    child,
    message({ data, at, turn_id: turn }: StreamedEvent): void {
      const key = `message ${textOf(data['message_id'])}`;
      const whole = textOf(data['text']);
      const text = whole.length < MAX_MESSAGE ? whole : `${whole}…`;
      items.set(key, { kind: 'message', key, text, at, turn });
    },
    output(event: StreamedEvent): void {
      const known = items.get(`call ${textOf(event.data['call_id'])}`);
      const before = known?.kind === 'call' ? known.output : '';
      call(event, { output: (before + textOf(event.data['text'])).slice(-MAX_OUTPUT) });
    },
    list: (): readonly FeedItem[] =>
      [...items.values()].filter((item) => item.kind !== 'answer' || item.text !== ''),
  };
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
