/**
 * Appends events that arrive in pieces while something runs: words of an answer, output of a command. What the sessions
 * of this process have gathered goes in one statement, one after the other, so that many answers at once cost few
 * commits. Under load the statements grow, not their number.
 */
import type { NewEvent } from '#domain/event.ts';
import type { NotifyReaders } from '../event-notifier.ts';
import { isTransient, type Pool } from '../postgres/pool.ts';
import { createSqlCall } from '../postgres/sql-call.ts';

/** Milliseconds between the starts of two statements. */
const PACE_MS = 25;
/** Sessions and characters of one statement. */
const MAX_SESSIONS = 500;
const MAX_CHARACTERS = 4_000_000;

/** Identifies a turn's rows. */
export interface EventPlace {
  readonly tenant: string;
  readonly session: string;
  readonly turn: string;
}

/**
 * Resolves once the events are committed, in the order of the calls for a session. A lost piece is not written again.
 * `isImmediate`: without the pause, and readers are notified at once.
 */
export type AppendEvents = (
  place: EventPlace,
  events: readonly NewEvent[],
  isImmediate?: boolean,
) => Promise<void>;

interface Piece {
  readonly place: EventPlace;
  /** As JSON. */
  readonly events: string[];
  characters: number;
  isImmediate: boolean;
  readonly written: PromiseWithResolvers<void>;
}

export function createEventWriter(pool: Pool, onWrite: NotifyReaders): AppendEvents {
  const call = createSqlCall(pool);
  /** By session and turn, in the order of arrival. */
  const gathered = new Map<string, Piece>();
  /** Sessions whose row another transaction had: they wait for it alone, and what follows waits for them. */
  const alone = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let isWriting = false;
  let isUrgent = false;
  let startedAt = 0;

  function schedule(): void {
    if (isWriting || gathered.size === 0 || (timer !== undefined && !isUrgent)) return;
    clearTimeout(timer);
    const wait = isUrgent ? 0 : Math.max(0, startedAt + PACE_MS - performance.now());
    timer = setTimeout(() => void writeBatch(), wait);
  }

  function nextBatch(): Piece[] {
    const batch: Piece[] = [];
    const sessions = new Set<string>();
    let characters = 0;
    for (const [key, piece] of gathered) {
      const session = sessionOf(piece.place);
      // The function takes each session once; another turn's events of it come next.
      if (alone.has(session) || sessions.has(session)) continue;
      if (batch.length > 0 && characters + piece.characters > MAX_CHARACTERS) break;
      sessions.add(session);
      characters += piece.characters;
      batch.push(piece);
      gathered.delete(key);
      if (batch.length === MAX_SESSIONS) break;
    }
    return batch;
  }

  async function writeBatch(): Promise<void> {
    timer = undefined;
    isUrgent = false;
    const batch = nextBatch();
    if (batch.length === 0) return;
    isWriting = true;
    startedAt = performance.now();
    try {
      const json = batch.map(({ place, events }) => itemOf(place, events));
      const done = new Set(await call<number[], 'append_batch'>('append_batch', [`[${json.join(',')}]`]));
      for (const [index, piece] of batch.entries())
        if (done.has(index)) end(piece);
        else void writeAlone(piece);
    } catch (error) {
      // Postgres refuses one of the pieces, and the others must not be lost with it.
      for (const piece of batch)
        if (isTransient(error)) piece.written.reject(error);
        else void writeAlone(piece);
    } finally {
      isWriting = false;
      schedule();
    }
  }

  async function writeAlone(piece: Piece): Promise<void> {
    const { tenant, session, turn } = piece.place;
    const name = sessionOf(piece.place);
    alone.add(name);
    try {
      await call('append_events', [tenant, session, turn, `[${piece.events.join(',')}]`]);
      end(piece);
    } catch (error) {
      piece.written.reject(error);
    } finally {
      alone.delete(name);
      schedule();
    }
  }

  function end({ place, isImmediate, written }: Piece): void {
    onWrite(place.tenant, place.session, isImmediate);
    written.resolve();
  }

  return (place, events, isImmediate = false) => {
    const key = JSON.stringify([place.tenant, place.session, place.turn]);
    let piece = gathered.get(key);
    if (!piece) {
      piece = { place, events: [], characters: 0, isImmediate: false, written: Promise.withResolvers() };
      gathered.set(key, piece);
    }
    for (const event of events) {
      const json = JSON.stringify(event);
      piece.events.push(json);
      piece.characters += json.length;
    }
    piece.isImmediate ||= isImmediate;
    isUrgent ||= isImmediate;
    schedule();
    return piece.written.promise;
  };
}

function sessionOf({ tenant, session }: EventPlace): string {
  return `${tenant}/${session}`;
}

function itemOf({ tenant, session, turn }: EventPlace, events: readonly string[]): string {
  const place = `"tenant":${JSON.stringify(tenant)},"session":${JSON.stringify(session)},"turn":${JSON.stringify(turn)}`;
  return `{${place},"events":[${events.join(',')}]}`;
}
