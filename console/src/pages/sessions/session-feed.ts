/** Makes what a person reads of a session from its events: messages, answers as they are written, and each step. */
import type { StreamedEvent } from '../../api/event-stream.ts';
import { createItems, type FeedItem, textOf } from './feed-items.ts';

export type FeedStatus = 'idle' | 'queued' | 'running' | 'waiting_approval';

export interface Feed {
  add(events: readonly StreamedEvent[]): void;
  items(): readonly FeedItem[];
  /** Of the newest turn; undefined before any of its events. */
  status(): FeedStatus | undefined;
  /** Version of the canvas; 0 before any of its events. */
  canvas(): number;
}

export function createFeed(): Feed {
  const items = createItems();
  const { note, answer, call, approval, child } = items;
  let status: FeedStatus | undefined;
  let canvas = 0;

  const shows: Partial<Record<StreamedEvent['type'], (event: StreamedEvent) => void>> = {
    'turn.queued': () => {
      status ??= 'queued';
    },
    'turn.started': () => {
      status = 'running';
    },
    'message.received': items.message,
    'message.delta': (event) => answer(event, (text) => text + textOf(event.data['text']), false),
    'message.reset': (event) => answer(event, () => '', false),
    'message.completed': (event) => answer(event, () => textOf(event.data['text']), true),
    'tool.started': (event) => call(event, { state: 'running' }),
    'tool.output': items.output,
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
      approval(event);
    },
    'approval.decided'(event) {
      if (status === 'waiting_approval') status = 'running';
      const [decided, by, why] = [event.data['status'], event.data['by'], event.data['note']].map(textOf);
      const isGood = decided === 'approved' || decided === 'responded';
      approval(event, { outcome: `${decided}${by && ` by ${by}`}${why && `: ${why}`}`, isGood });
    },
    'subagent.started': (event) => child(event, 'subagent'),
    'subagent.completed': (event) => child(event, 'subagent'),
    'delegation.started': (event) => child(event, 'delegation'),
    'delegation.completed': (event) => child(event, 'delegation'),
    'session.forked': (event) =>
      note(
        event,
        'plain',
        `Forked from the session ${textOf(event.data['session'])}, whose transcript is copied`,
      ),
    'turn.held': (event) =>
      note(event, 'plain', `Held back until it is lifted: ${textOf(event.data['reason'])}`),
    'context.compacted': (event) => note(event, 'plain', 'The conversation was summarized to fit the model'),
    'canvas.changed'(event) {
      canvas = Number(event.data['version']);
    },
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
    items: items.list,
    status: () => status,
    canvas: () => canvas,
  };
}
