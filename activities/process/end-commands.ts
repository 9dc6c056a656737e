/** Ends the background commands and the browser of a session, with those of what it has started or given away: what is over has no turn any more that would do it. */
import type { Browsers } from '#features/browser/activities/browsers.ts';
import type { Processes } from './background.ts';

/** Safe to repeat: it looks for what still runs. */
export type EndCommands = (tenant: string, session: string) => Promise<void>;

export function createEndCommands(
  processes: Pick<Processes, 'killSession' | 'killLeft'>,
  browsers: Pick<Browsers, 'end'>,
  sessionsBelow: (tenant: string, session: string) => Promise<readonly string[]>,
): EndCommands {
  return async (tenant, session) => {
    const below = await sessionsBelow(tenant, session);
    await Promise.all([
      processes.killSession(tenant, session),
      ...below.map((key) => processes.killLeft(tenant, key)),
      ...[session, ...below].map((key) => browsers.end(tenant, key)),
    ]);
  };
}
