/** Implements `tempoclaw approvals link` and `unlink`. */
import type { Command } from 'commander';
import type { z } from 'zod';
import { addCommands } from '#cli/api-commands.ts';
import type { CommandContext } from '#cli/command-context.ts';
import { oneLine } from '#cli/text.ts';
import { approvalLinks } from './resource.ts';
import type { approvalLinkSchema } from './schema.ts';

export function register(approvals: Command): void {
  addCommands(approvals, approvalLinks, { createApprovalLink: { print: printLink } });
}

function printLink({ out, err }: CommandContext, made: z.infer<typeof approvalLinkSchema>): void {
  out.line(made.url ?? '');
  const who = oneLine(made.for, 80);
  err.line(err.paint('dim', `whoever has it decides as ${who}, once, until ${made.expires_at}`));
}
