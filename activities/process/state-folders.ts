import { join } from 'node:path';

/** Folders below the state folder that a worker hides from commands: each belongs to one program. */
export const CREDENTIALS_FOLDER = 'credentials';
export const MEDIA_FOLDER = 'media';

/** Folder of background commands below the state folder. */
export function processesFolder(stateDir: string): string {
  return join(stateDir, 'processes');
}
