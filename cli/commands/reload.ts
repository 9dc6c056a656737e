/** Implements `tempoclaw reload`: the short form of `tempoclaw gateway reload`. */
import type { Command } from 'commander';
import { gateway } from '#domain/resource/gateway.ts';
import { addCommand } from '#cli/api-commands.ts';

export function register(command: Command): void {
  addCommand(command, gateway, 'reloadSettings', { isParent: true });
}
