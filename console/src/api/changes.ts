/** What changes in the tenant, from one stream for all that the page shows. */
import { effect } from '@preact/signals';
import { type EventStream, followEvents } from './event-stream.ts';
import type { EventOf } from '@tempoclaw/client';
import { addressOf } from './request.ts';

export type Change = EventOf<'GET /v1/changes'>;

/** Undefined when anything may have changed. */
type Reader = (change: Change | undefined) => void;

const readers = new Set<Reader>();
let stream: EventStream | undefined;
let end: () => void = () => undefined;

export function isFollowing(): boolean {
  return stream?.state.peek() === 'live';
}

/** Returns a function that ends it; the last one closes the stream. */
export function followChanges(reader: Reader): () => void {
  readers.add(reader);
  openOrEnd();
  return () => {
    readers.delete(reader);
    openOrEnd();
  };
}

/** A page that nobody sees follows nothing: a browser has six connections for all its pages of one server. */
function openOrEnd(): void {
  const isNeeded = readers.size > 0 && !document.hidden;
  if (isNeeded && !stream) open();
  if (!isNeeded) end();
}

document.addEventListener('visibilitychange', openOrEnd);

function open(): void {
  const report = (change?: Change): void => {
    for (const reader of readers) reader(change);
  };
  const opened = followEvents<Change>(addressOf('GET /v1/changes', {}).address, {
    deliver: (changes) => changes.forEach(report),
    reset: () => undefined,
    isNumbered: false,
  });
  stream = opened;
  // Nothing is replayed: what has changed before is not told.
  const unwatch = effect(() => {
    if (opened.state.value === 'live') report();
  });
  end = () => {
    unwatch();
    opened.close();
    stream = undefined;
    end = () => undefined;
  };
}
