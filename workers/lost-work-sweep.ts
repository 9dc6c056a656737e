/** Looks every minute for work whose workflow was ended from outside, so that who gave it is told without asking. */
import type { LostWork } from '#temporal/lost-work.ts';

const EVERY_MS = 60_000;
/** Younger work is not looked at: most is over by then, and costs nothing. */
const OLDER_THAN_SECONDS = 60;

/** Any number of workers may do it at once. Returns how to end it; resolves when nothing of it runs. */
export function startLostWorkSweep(
  lost: Pick<LostWork, 'sweepAll'>,
  told: (ended: number) => void,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let running: Promise<void> | undefined;
  const sweep = async (): Promise<void> => {
    try {
      const ended = await lost.sweepAll(OLDER_THAN_SECONDS);
      if (ended > 0) told(ended);
    } catch (error) {
      // Postgres or Temporal is away: the next minute looks again.
      onError(error);
    } finally {
      running = undefined;
    }
  };
  const timer = setInterval(() => {
    running ??= sweep();
  }, EVERY_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
