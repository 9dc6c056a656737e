/**
 * Prevents work for another installation: before each activity it checks whose the namespace is
 * (temporal/installation.ts).
 */
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { ForeignNamespace } from '#domain/installation.ts';

/** `belongs` comes from keepNamespace. Work from another installation's server fails there, to be retried. */
export function ownNamespaceOnly(
  belongs: () => Promise<void>,
  onForeign: (error: ForeignNamespace) => void,
): ActivityInterceptorsFactory {
  return () => ({
    inbound: {
      async execute(input, next) {
        await belongs().catch((error: unknown) => {
          // A server that is unreachable for a moment is not another's.
          if (!(error instanceof ForeignNamespace)) return;
          onForeign(error);
          throw ApplicationFailure.create({
            type: 'Unavailable',
            message: 'a worker of another installation took this; try again',
          });
        });
        return next(input);
      },
    },
  });
}
