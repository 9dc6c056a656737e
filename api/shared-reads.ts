/** Reads of one thing that many readers need at the same time are one query for all of them. */

/** Returns what `read` returns. The query begins after the call, so it sees what the caller was woken for. */
export type SharedReads<Result> = (name: string, read: () => Promise<Result>) => Promise<Result>;

export function createSharedReads<Result>(): SharedReads<Result> {
  /** Reads that have not begun, by name. */
  const waiting = new Map<string, Promise<Result>>();
  return (name, read) => {
    const known = waiting.get(name);
    if (known) return known;
    // All readers that one notice wakes ask in the same turn of the event loop.
    const made = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      waiting.delete(name);
      return read();
    });
    waiting.set(name, made);
    return made;
  };
}
