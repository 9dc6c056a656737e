/** Starts an installation for a folder, unless one is known. */
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext } from '#cli/command-context.ts';
import { runningUp } from '#cli/run-state.ts';
import { ownFeatures } from './own-features.ts';
import { startCommand, type StartedCommand } from './start-command.ts';

const START_MS = 300_000;
const LOOK_MS = 200;

/**
 * Its state is in the working folder. `output` says where its lines go. Undefined when one is known. @throws CliError
 * NotStarted
 */
export async function startIfNone(
  options: ApiOptions,
  signal: AbortSignal,
  output: 'shown' | 'hidden' = 'shown',
): Promise<StartedCommand | undefined> {
  const isKnown = (): boolean => {
    try {
      const { run: file } = createContext(options).client.target();
      // One that was killed leaves its file.
      return file === undefined || runningUp(dirname(file.path)) !== undefined;
    } catch (error) {
      if (error instanceof CliError && error.code === 'NotRunning') return false;
      throw error;
    }
  };
  if (isKnown()) return undefined;
  const features = ownFeatures('.');
  const started = startCommand(['up', '--state-dir', options.stateDir ?? '.tempoclaw'], output, {
    ...(features !== undefined && { TEMPOCLAW_FEATURES: features }),
  });
  for (const until = Date.now() + START_MS; Date.now() < until && !signal.aborted; await sleep(LOOK_MS)) {
    if (isKnown()) return started;
    if (started.hasEnded()) break;
  }
  await started.end();
  throw new CliError(`The installation of this folder has not started.\n${started.errors().trim()}`.trim(), {
    code: 'NotStarted',
  });
}
