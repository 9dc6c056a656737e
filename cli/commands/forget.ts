/** Implements `tempoclaw forget`: it forgets a session or a user, and shows the receipts and the retention periods. */
import type { Command } from 'commander';
import { forgettings } from '#domain/resource/forgettings.ts';
import { addCommands } from '#cli/api-commands.ts';
import { printFields } from '#cli/output.ts';

export function register(forget: Command): void {
  addCommands(forget, forgettings, {
    getRetention: {
      print({ out, err }, retention) {
        if (Object.keys(retention).length === 0)
          err.line('The tenant says nothing; what the settings say holds.');
        else printFields(out, retention);
      },
    },
  });
}
