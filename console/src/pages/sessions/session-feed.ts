/** Makes what a person reads of a session from its events: messages, answers as they are written, and each step. */
import type { StreamedEvent } from '../../api/event-stream.ts';

export type FeedItem =
  | { readonly kind: 'message'; readonly key: string; readonly text: string; readonly at: string }
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
      readonly kind: 'note';
      readonly key: string;
      readonly tone: 'plain' | 'asks' | 'good' | 'bad';
      readonly text: string;
      readonly at: string;
    };

export type FeedStatus = 'idle' | 'queued' | 'running' | 'waiting_approval';

export interface Feed {
  add(events: readonly StreamedEvent[]): void;
  items(): readonly FeedItem[];
  /** Of the newest turn; undefined before any of its events. */
  status(): FeedStatus | undefined;
}

/** Characters of a command's output that are shown, from its end. */
const MAX_OUTPUT = 4_000;
/** Events contain so much of a message; the transcript has all of it. */
const MAX_MESSAGE = 2_000;

export function createFeed(): Feed {
  const items = new Map<string, FeedItem>();
  const attempts = new Map<string, number>();
  let status: FeedStatus | undefined;

  const note = (event: StreamedEvent, tone: 'plain' | 'asks' | 'good' | 'bad', text: string): void => {
    const key = textOf(event.data['approval_id']) || `event ${event.id}`;
    items.set(key, { kind: 'note', key, tone, text, at: event.at });
  };

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

  const shows: Partial<Record<StreamedEvent['type'], (event: StreamedEvent) => void>> = {
    'turn.queued': () => {
      status ??= 'queued';
    },
    'turn.started': () => {
      status = 'running';
    },
    'message.received'({ data, at }) {
      const key = `message ${textOf(data['message_id'])}`;
      const text = textOf(data['text']);
      items.set(key, { kind: 'message', key, text: text.length < MAX_MESSAGE ? text : `${text}…`, at });
    },
    'message.delta': (event) => answer(event, (text) => text + textOf(event.data['text']), false),
    'message.reset': (event) => answer(event, () => '', false),
    'message.completed': (event) => answer(event, () => textOf(event.data['text']), true),
    'tool.started': (event) => call(event, { state: 'running' }),
    'tool.output'(event) {
      const known = items.get(`call ${textOf(event.data['call_id'])}`);
      const before = known?.kind === 'call' ? known.output : '';
      call(event, { output: (before + textOf(event.data['text'])).slice(-MAX_OUTPUT) });
    },
    'tool.completed'(event) {
      const { ok, code, preview, duration_ms: ms } = event.data;
      call(event, {
        state: ok === true ? 'done' : 'failed',
        ...(typeof code === 'string' && { code }),
        ...(typeof preview === 'string' && { preview }),
        ...(typeof ms === 'number' && { ms }),
      });
    },
    'approval.requested'(event) {
      status = 'waiting_approval';
      const reason = textOf(event.data['reason']);
      note(event, 'asks', `Waits for approval: ${textOf(event.data['summary'])}${reason && ` (${reason})`}`);
    },
    'approval.decided'(event) {
      if (status === 'waiting_approval') status = 'running';
      const [decided, by, why] = [event.data['status'], event.data['by'], event.data['note']].map(textOf);
      const isGood = decided === 'approved' || decided === 'responded';
      note(event, isGood ? 'good' : 'bad', `Approval ${decided}${by && ` by ${by}`}${why && `: ${why}`}`);
    },
    'context.compacted': (event) => note(event, 'plain', 'The conversation was summarized to fit the model'),
    'turn.completed': () => {
      status = 'idle';
    },
    'turn.failed'(event) {
      status = 'idle';
      const error = event.data['error'] as { code?: unknown; message?: unknown } | undefined;
      note(event, 'bad', `The turn failed: ${textOf(error?.code)} ${textOf(error?.message)}`);
    },
    'turn.stopped'(event) {
      status = 'idle';
      const by = textOf(event.data['by']);
      note(event, 'bad', `Stopped${by && ` by ${by}`}`);
    },
  };

  return {
    add: (events) => {
      for (const event of events) shows[event.type]?.(event);
    },
    items: () => [...items.values()].filter((item) => item.kind !== 'answer' || item.text !== ''),
    status: () => status,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
