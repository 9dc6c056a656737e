/** An answer while it is written, as the feed sends it in pieces. */
import type { StoredEvent } from '#domain/event.ts';

/** What a model answers when it has nothing to say. */
export const SILENT: ReadonlySet<string> = new Set(['NO_REPLY', 'HEARTBEAT_OK']);

export interface WrittenText {
  /** Id of the last event that was read. */
  readonly last: number;
  /** The text of the newest attempt at the newest step. */
  readonly text: string;
  readonly origin: string;
  /** True if the answer is complete, or will never be. */
  readonly isOver: boolean;
}

const ENDS: ReadonlySet<string> = new Set([
  'message.completed',
  'turn.completed',
  'turn.failed',
  'turn.stopped',
]);

/** Adds further events of the session, of which only those of the turn count. */
export function readPieces(before: WrittenText, events: readonly StoredEvent[], turn: string): WrittenText {
  let { last, text, origin, isOver } = before;
  for (const { id, type, turn_id, data } of events) {
    last = id;
    if (turn_id !== turn) continue;
    isOver ||= ENDS.has(type);
    if (type !== 'message.delta' && type !== 'message.reset') continue;
    const from = `${String(data['step'])}/${String(data['attempt'])}`;
    const piece = type === 'message.delta' ? String(data['text']) : '';
    text = from === origin && type === 'message.delta' ? text + piece : piece;
    origin = from;
  }
  return { last, text, origin, isOver };
}

/** False if the text is empty, or may become a word that says nothing. */
export function isWorthShowing(text: string): boolean {
  const started = text.trim();
  return started !== '' && ![...SILENT].some((word) => word.startsWith(started));
}
