/** The settings of the running instance, as its API reports them; those of this shell may differ. */
import type { Config } from '#config';
import { gateway } from '#domain/resource/gateway.ts';
import { runningClient } from './running-client.ts';

/** Sections that the API reports; where it listens is in run.json. For secrets, it only reports that they are set. */
const SECTIONS = ['models', 'sandbox', 'workspaceRoot', 'workspaces', 'encryption', 'log', 'file'] as const;

/** The settings, with those in force replacing its own. Throws when the API does not report them. */
export async function withSettingsInForce(config: Config): Promise<Config> {
  const { path } = gateway.operations.getSettings;
  const { value } = (await (await runningClient(config.stateDir).raw('GET', path, {})).json()) as {
    value: Config;
  };
  // A section that is absent in force is absent here too.
  return { ...config, file: undefined, ...Object.fromEntries(SECTIONS.map((name) => [name, value[name]])) };
}
