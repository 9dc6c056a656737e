/** Scrubs the failures of activities, because they go into history, which nobody scrubs later (SC-3). */
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Scrubber } from '#store/secrets/scrubber.ts';

/** Greatest number of causes of an error; causes can be circular. */
const MAX_CAUSES = 10;

export function scrubFailures(vault: { scrubberNow(tenant: string): Scrubber }): ActivityInterceptorsFactory {
  return () => ({
    inbound: {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          const { tenant = '' } = (input.args[0] ?? {}) as { readonly tenant?: string };
          scrubError(error, vault.scrubberNow(tenant));
          throw error;
        }
      },
    },
  });
}

/** Scrubs in place, so that the error keeps its kind: a cancellation, a retryable failure. */
function scrubError(thrown: unknown, scrubber: Scrubber): void {
  let error = thrown;
  for (let depth = 0; error instanceof Error && depth < MAX_CAUSES; depth += 1) {
    error.message = scrubber.text(error.message);
    if (error.stack !== undefined) error.stack = scrubber.text(error.stack);
    error = error.cause;
  }
}
