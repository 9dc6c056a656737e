/** The features of a folder, which run inside an installation. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { CliError } from '#cli/cli-error.ts';
import type { Client } from '#cli/client.ts';
import type { CommandContext } from '#cli/command-context.ts';
import { readCommand } from './start-command.ts';

interface Listed {
  readonly features: readonly {
    readonly name: string;
    readonly folder: string | null;
    readonly digest: string;
  }[];
  readonly problems: readonly string[];
}

/** Where a folder of agents has features; undefined when it has none. */
export function ownFeatures(folder: string): string | undefined {
  const path = resolve(folder, 'features');
  return existsSync(path) ? path : undefined;
}

/** Loads them in a process of their own, as they are now. `problems` are texts for people. */
export async function readOwnFeatures(folder: string): Promise<Listed> {
  const path = ownFeatures(folder);
  if (path === undefined) return { features: [], problems: [] };
  const { text, errors } = await readCommand(['features', 'list', '--json'], { TEMPOCLAW_FEATURES: path });
  try {
    const { features, problems } = JSON.parse(text) as Listed;
    return { features: features.filter((one) => one.folder !== null), problems };
  } catch {
    return { features: [], problems: [`${path}: ${errors.trim() || 'its features cannot be read'}`] };
  }
}

/** @throws CliError InvalidProject when they are wrong, or the installation does not have them in the same form */
export async function requireOwnFeatures({ client, err }: CommandContext, folder: string): Promise<void> {
  const { features, problems } = await readOwnFeatures(folder);
  if (problems.length > 0) throw new CliError(problems.join('\n'), { code: 'InvalidProject' });
  if (features.length === 0) return;
  const there = await featuresOf(client);
  if (!there) return err.line('Only an admin of the tenant default sees whether the features are there.');
  const wrong = differing(features, there);
  if (wrong.length > 0)
    throw new CliError(wrong.join('\n'), {
      code: 'InvalidProject',
      remedy:
        'Start its API and its workers with TEMPOCLAW_FEATURES, the path of a copy of these features there.',
    });
}

/** How the installation differs, a line for each feature. */
function differing(features: Listed['features'], there: Listed['features']): readonly string[] {
  return features.flatMap(({ name, digest }) => {
    const one = there.find((each) => each.name === name);
    if (!one) return [`The installation does not have the feature ${name}.`];
    return one.digest === digest ? [] : [`The installation has another version of the feature ${name}.`];
  });
}

/** Whether the installation has these features and no others of its own. False when it does not answer. */
export async function hasFeatures(client: Client, features: Listed['features']): Promise<boolean> {
  const there = await featuresOf(client).catch(() => undefined);
  return there?.length === features.length && differing(features, there).length === 0;
}

/** Undefined when the key may not see it. */
async function featuresOf(client: Client): Promise<Listed['features'] | undefined> {
  try {
    return (await client.get<Pick<Listed, 'features'>>('/v1/gateway')).features;
  } catch (error) {
    if (error instanceof CliError && error.code === 'Forbidden') return undefined;
    throw error;
  }
}
