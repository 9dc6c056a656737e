/**
 * Implements `tempoclaw gateway`: it shows what runs and which settings are in force, and reloads the settings, also as
 * `tempoclaw reload`.
 */
import type { Command } from 'commander';
import type { GatewayStatus, Reloaded } from '#domain/gateway.ts';
import { gateway as resource } from '#domain/resource/gateway.ts';
import { addApiCommand } from '#cli/api-commands.ts';
import { printFields, printJson } from '#cli/output.ts';

const { getGateway, getSettings, reloadSettings } = resource.operations;

export function register(parent: Command): void {
  addApiCommand(parent, {
    word: 'status',
    help: 'version, workers, and whether Postgres and Temporal answer',
    isDefault: true,
    path: getGateway.path,
    print: ({ out }, { workers, ...status }: GatewayStatus) =>
      printFields(out, { ...status, workers: workers.map(({ identity }) => identity).join(' ') }),
  });
  addApiCommand(parent, {
    word: 'config',
    help: 'the settings in force, without secrets',
    path: getSettings.path,
    arguments: ['path'],
    mayLackLast: true,
    print: ({ out }, { value }: { readonly value: unknown }) => printJson(out, value),
  });
  addReload(parent, { word: 'reload', help: 'read the settings again, in every process' });
}

/** Without a word, this is the parent's own action. */
export function addReload(parent: Command, named: { readonly word?: string; readonly help?: string }): void {
  addApiCommand(parent, {
    ...named,
    method: reloadSettings.method,
    path: reloadSettings.path,
    sends: () => ({}),
    print: ({ out }, { applied, restart }: Reloaded) => {
      out.line(applied.length === 0 ? 'nothing was applied' : `applied: ${applied.join(', ')}`);
      if (restart.length > 0) out.line(`needs a restart: ${restart.join(', ')}`);
    },
  });
}
