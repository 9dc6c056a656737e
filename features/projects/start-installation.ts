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
/** One that does not answer is starting or ending; both take less than this. */
const ANSWER_MS = 30_000;

/**
 * Its state is in the working folder. `output` says where its lines go. Undefined when one is known. @throws CliError
 * NotStarted
 */
export async function startIfNone(
  options: ApiOptions,
  signal: AbortSignal,
  output: 'shown' | 'hidden' = 'shown',
): Promise<StartedCommand | undefined> {
  const isKnown = (): boolean => placeOf(options) !== undefined;
  let isAnnounced = output === 'hidden';
  for (const until = Date.now() + ANSWER_MS; isKnown(); await sleep(LOOK_MS)) {
    if (signal.aborted || Date.now() > until || (await isUsable(options))) return undefined;
    if (!isAnnounced)
      createContext(options).err.line('Waits for an installation of this folder that starts or ends.');
    isAnnounced = true;
  }
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

/** Where one is known to run; undefined when none is. */
function placeOf(options: ApiOptions): 'here' | 'elsewhere' | undefined {
  try {
    const { run: file } = createContext(options).client.target();
    if (file === undefined) return 'elsewhere';
    // One that was killed leaves its file.
    return runningUp(dirname(file.path)) === undefined ? undefined : 'here';
  } catch (error) {
    if (error instanceof CliError && error.code === 'NotRunning') return undefined;
    throw error;
  }
}

/** False while the one of this folder starts or ends. */
async function isUsable(options: ApiOptions): Promise<boolean> {
  if (placeOf(options) !== 'here') return true;
  return createContext(options)
    .client.get('/healthz')
    .then(
      () => true,
      () => false,
    );
}
