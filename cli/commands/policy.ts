/** Implements `tempoclaw policy`: it shows and changes the tenant's policy, with what may not be meant so. */
import type { Command } from 'commander';
import { policy as resource } from '#domain/resource/policy.ts';
import { addCommands } from '#cli/api-commands.ts';
import type { CommandContext } from '#cli/command-context.ts';
import { printFields } from '#cli/output.ts';

export function register(policy: Command): void {
  addCommands(policy, resource, {
    getPolicy: {
      print(context, { warnings, ...fields }) {
        if (Object.keys(fields).length === 0) context.err.line('The tenant sets no policy.');
        else printFields(context.out, fields);
        warn(context, warnings);
      },
    },
    setPolicy: {
      print: (context, { warnings }) => warn(context, warnings, 'holds from the next judged call on'),
    },
    restorePolicy: {
      print: (context, { warnings }, { change }: { readonly change: string }) =>
        warn(context, warnings, `it is again as it was before change ${change}`),
    },
  });
}

function warn({ err }: CommandContext, warnings: readonly string[] = [], done?: string): void {
  if (done !== undefined) err.line(`${err.paint('green', '✔')} ${done}`);
  for (const warning of warnings) err.line(err.paint('yellow', warning));
}
