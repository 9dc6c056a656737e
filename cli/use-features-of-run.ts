/**
 * The command line has the commands of the installation that runs here, with those of its own features. Their code is
 * loaded only while an `up` of this machine holds the state folder: files that somebody else made do not start it.
 */
import { dirname } from 'node:path';
import { clientEnvironment } from '#config/client-environment.ts';
import { useFeaturesOfRun } from '#config/own-features-folder.ts';
import { runningUp } from './run-state.ts';
import { findRunFile } from './target.ts';

function featuresOfRun(argv: readonly string[]): string | undefined {
  try {
    const run = findRunFile(stateDirOf(argv) ?? clientEnvironment().stateDir, process.cwd());
    return run?.features !== undefined && runningUp(dirname(run.path)) !== undefined
      ? run.features
      : undefined;
  } catch {
    // A command that needs the file says what is wrong with it.
    return undefined;
  }
}

function stateDirOf(argv: readonly string[]): string | undefined {
  const at = argv.findIndex((one) => /^--state-dir(?:=|$)/.test(one));
  const [, value] = /^--state-dir=(.*)/.exec(argv[at] ?? '') ?? [];
  return value ?? (at < 0 ? undefined : argv[at + 1]);
}

useFeaturesOfRun(featuresOfRun(process.argv));
