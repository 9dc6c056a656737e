/** Implements `tempoclaw api` and `tempoclaw worker`: one process of a deployment, in this process. */
import type { Command } from 'commander';
import { startFailure } from '#cli/start-failure.ts';
import { SOURCE_ENDING } from '#domain/source-ending.ts';

/** Their settings are variables and `tempoclaw.yaml`, as those of every process of a deployment. */
const MAINS: Readonly<Record<string, string>> = { api: 'api/main', worker: 'workers/main' };

export function register(command: Command): void {
  command.action(async () => {
    try {
      await import(`#${MAINS[command.name()]}${SOURCE_ENDING}`);
    } catch (error) {
      throw startFailure(error) ?? error;
    }
  });
}
