/** Ends what a killed `up` left running in a state folder. */
import { realpathSync } from 'node:fs';
import { SOURCE_ENDING } from '#domain/source-ending.ts';
import { CliError } from '#cli/cli-error.ts';
import { endLeftovers, LeftoverError } from '@tempoclaw/dev-services/processes';
import { isPostgresOf, isTemporalOf } from '@tempoclaw/dev-services';

/** The order in which parts are ended: users of a service before the service. */
export const END_ORDER = ['api', 'worker', 'temporal', 'postgres'] as const;

/** Returns the names of what it ended. */
export async function endFormerStart(stateDir: string): Promise<string[]> {
  const folder = realpathSync(stateDir);
  const isPart: Readonly<Record<(typeof END_ORDER)[number], (command: string) => boolean>> = {
    api: (command) => command.endsWith(`/api/main${SOURCE_ENDING} ${folder}`),
    worker: (command) => command.endsWith(`/workers/main${SOURCE_ENDING} ${folder}`),
    temporal: isTemporalOf(stateDir),
    postgres: isPostgresOf(stateDir),
  };
  try {
    return await endLeftovers(
      END_ORDER.map((name) => ({
        name,
        isPart: isPart[name],
        ...(name === 'postgres' && { signal: 'SIGINT' }),
      })),
    );
  } catch (error) {
    if (!(error instanceof LeftoverError)) throw error;
    throw new CliError(error.message, {
      code: 'LeftRunning',
      remedy: `End process ${error.pid}, then start again.`,
    });
  }
}
