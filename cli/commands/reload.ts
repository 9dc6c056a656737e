/** `tempoclaw reload`: the short way to `tempoclaw gateway reload`. */
import type { Command } from 'commander';
import { addReload } from './gateway.ts';

export function register(command: Command): void {
  addReload(command, {});
}
