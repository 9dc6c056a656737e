/** Implements `tempoclaw reload`: the short form of `tempoclaw gateway reload`. */
import type { Command } from 'commander';
import { addReload } from './gateway.ts';

export function register(command: Command): void {
  addReload(command, {});
}
