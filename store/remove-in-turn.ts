/** Removal of many rows in batches, so that concurrent turns wait for none of them. */

/** Rows of one kind that are to be removed. */
export interface Removal {
  /** Greatest number that one call removes. */
  readonly batch: number;
  /** Removes one batch; returns how many it removed. Fewer than a batch: none are left. */
  remove(batch: number): Promise<number>;
}

/** How long a sweep removes old rows: what is left is removed a minute later. */
const SWEEP_MS = 20_000;

/**
 * Removes a batch of each kind in turn until none is left or the time is over: no kind, and no tenant, waits for the
 * others. It begins anywhere, so that the last ones have their turn too when the time is never enough. Returns how many
 * were removed. Safe to repeat, also concurrently.
 */
export async function removeInTurn(removals: readonly Removal[], ms: number = SWEEP_MS): Promise<number> {
  const until = performance.now() + ms;
  const first = Math.floor(Math.random() * removals.length);
  let open = [...removals.slice(first), ...removals.slice(0, first)];
  let removed = 0;
  while (open.length > 0) {
    const more: Removal[] = [];
    for (const removal of open) {
      if (performance.now() >= until) return removed;
      const count = await removal.remove(removal.batch);
      removed += count;
      if (count >= removal.batch) more.push(removal);
    }
    open = more;
  }
  return removed;
}
