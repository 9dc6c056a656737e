/** Where an installation has features of its own. It is known before the settings, whose sections features bring. */
import { resolve } from 'node:path';
import type { Environment } from './environment.ts';

let ofRun: string | undefined;

/** TEMPOCLAW_FEATURES, else the folder that the installation which runs here has. */
export function ownFeaturesFolder(env: Environment = process.env): string | undefined {
  const named = env['TEMPOCLAW_FEATURES'] || undefined;
  return named === undefined ? ofRun : resolve(named);
}

/** For the command line, whose commands are those of the installation that runs. Called before features are loaded. */
export function useFeaturesOfRun(folder: string | undefined): void {
  ofRun = folder;
}
