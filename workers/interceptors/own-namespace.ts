/** No work of another installation is done: whose the namespace is, is looked at before each activity (temporal/installation.ts). */
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { ForeignNamespace } from '#domain/installation.ts';

/** `belongs` is of keepNamespace. What came from another's server is given back to it, to be tried again. */
export function ownNamespaceOnly(
  belongs: () => Promise<void>,
  onForeign: (error: ForeignNamespace) => void,
): ActivityInterceptorsFactory {
  return () => ({
    inbound: {
      async execute(input, next) {
        await belongs().catch((error: unknown) => {
          // A server that is away for a moment is not another's.
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
