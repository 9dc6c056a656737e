/**
 * Ends what runs for a session, and for the sessions that it has started or delegated to: an ended session has no turn
 * that would do it.
 */
import type { WorkerPart } from '#domain/feature.ts';
import type { Processes } from './session-processes.ts';

/** Safe to repeat: it searches for what still runs. */
export type EndCommands = (tenant: string, session: string) => Promise<void>;

export function createEndCommands(
  processes: Pick<Processes, 'killSession' | 'killLeft'>,
  ends: readonly NonNullable<WorkerPart['endSession']>[],
  sessionsBelow: (tenant: string, session: string) => Promise<readonly string[]>,
): EndCommands {
  return async (tenant, session) => {
    const below = await sessionsBelow(tenant, session);
    await Promise.all([
      processes.killSession(tenant, session),
      ...below.map((key) => processes.killLeft(tenant, key)),
      ...[session, ...below].flatMap((key) => ends.map((end) => end(tenant, key))),
    ]);
  };
}
