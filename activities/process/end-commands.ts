/** Ends what runs for a session, with what runs for those that it has started or given away: what is over has no turn any more that would do it. */
import type { WorkerPart } from '#domain/feature.ts';
import type { Processes } from './session-processes.ts';

/** Safe to repeat: it looks for what still runs. */
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
