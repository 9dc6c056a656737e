/** For what is in the rows already: what Temporal does not take now, the sweep finds there. */
import { Failure } from '#domain/errors.ts';

export function unlessUnavailable(error: unknown): void {
  if (!(error instanceof Failure && error.type === 'Unavailable')) throw error;
}
