import { join } from 'node:path';

/** Folders below the state folder that a worker keeps from commands: what is in them is for the one program that it is given to. */
export const CREDENTIALS_FOLDER = 'credentials';
export const MEDIA_FOLDER = 'media';

/** Where background commands are kept under the state folder. */
export function processesFolder(stateDir: string): string {
  return join(stateDir, 'processes');
}
