/** The settings of the instance that runs, as its API says them: those of this shell may be others. */
import type { Config } from '#config';
import { gateway } from '#domain/resource/gateway.ts';
import { createClient } from '#cli/client.ts';
import { findTarget } from '#cli/target.ts';

/** What is said of it stands for what runs; where it listens is in run.json. Its secrets only say that they are set. */
const SECTIONS = ['models', 'sandbox', 'workspaceRoot', 'workspaces', 'encryption', 'log', 'file'] as const;

/** Of this shell: an address or a key for another API. */
const NOTHING = { url: undefined, apiKey: undefined, stateDir: undefined };

/** The settings with those in force in place of its own. Throws when the API does not say. */
export async function withSettingsInForce(config: Config): Promise<Config> {
  const target = findTarget({ stateDir: config.stateDir }, NOTHING, config.stateDir);
  const { path } = gateway.operations.getSettings;
  const { value } = (await (await createClient(target).raw('GET', path, {})).json()) as { value: Config };
  // Absent in force is absent here too.
  return { ...config, file: undefined, ...Object.fromEntries(SECTIONS.map((name) => [name, value[name]])) };
}
