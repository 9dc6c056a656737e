/** A queue for work that must not overlap within one process, or within one run of a workflow. */

/**
 * Runs functions one after the other, in the order of the calls. Concurrent local activities end in an order that a
 * replay may not keep, so those whose ends lead to different commands go through this queue.
 */
export function oneAtATime(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let before: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = before.then(work);
    before = mine.catch(() => undefined);
    return mine;
  };
}
