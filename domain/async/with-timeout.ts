/** Waits for a result for a limited time. */

/** Undefined when the time is over first; the work continues. */
export async function withTimeout<Result>(ms: number, work: Promise<Result>): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const time = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, time]);
  } finally {
    clearTimeout(timer);
  }
}
