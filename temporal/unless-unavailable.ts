/** For work that is already in rows: what Temporal does not accept now, the sweep finds there. */
import { Failure } from '#domain/errors.ts';

export function unlessUnavailable(error: unknown): void {
  if (!(error instanceof Failure && error.type === 'Unavailable')) throw error;
}
