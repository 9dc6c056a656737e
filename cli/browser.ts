/** Opens an address in the person's browser, where there is one. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { childEnvironment, commandFolders } from '#config';

/** Returns false when no browser is known: over SSH, in a container, on a server. */
export function openInBrowser(address: string): boolean {
  const env = childEnvironment({});
  const isMac = process.platform === 'darwin';
  if (!isMac && !env['DISPLAY'] && !env['WAYLAND_DISPLAY']) return false;
  const name = isMac ? 'open' : 'xdg-open';
  const program = commandFolders()
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
  if (program === undefined) return false;
  const child = spawn(program, [address], { env, stdio: 'ignore', detached: true });
  // The address has been printed, so nothing more is needed.
  child.once('error', () => undefined);
  child.unref();
  return true;
}
