/** Implements `tempoclaw subagents`: it lists those that a session has started, shows one, and stops or steers it. */
import type { Command } from 'commander';
import { subagents as resource } from '#domain/resource/assignments.ts';
import { sessions } from '#domain/resource/sessions.ts';
import { addCommand, addCommands } from '#cli/api-commands.ts';

export function register(subagents: Command): void {
  addCommand(subagents, sessions, 'listSubagents');
  addCommands(subagents, resource);
}
