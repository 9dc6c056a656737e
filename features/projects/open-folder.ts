/** Brings a folder of agents to the installation that runs for it, for commands that try the folder. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CliError } from '#cli/cli-error.ts';
import { type ApiOptions, type CommandContext, createContext } from '#cli/command-context.ts';
import { hostNameOf, registerTools } from '#features/code-tools/index.ts';
import { planProject, planTools } from './plan.ts';
import { readProject } from './read-project.ts';
import { startIfNone } from './start-installation.ts';
import { toolsOf } from './tools-of.ts';

export interface OpenedFolder {
  readonly context: CommandContext;
  /** Ends the installation if it was started here. */
  end(): Promise<void>;
}

export function isProject(folder: string): boolean {
  return ['agents', 'tools', 'skills', 'schedules'].some((name) => existsSync(join(folder, name)));
}

/**
 * The working folder is the folder, whose installation is used, or started. Its agents, tools, skills and schedules are
 * deployed, as `deploy` does; not to an installation that an address names. @throws CliError InvalidProject with all that is wrong; NotStarted
 */
export async function openFolder(options: ApiOptions): Promise<OpenedFolder> {
  const folder = process.cwd();
  const started = await startIfNone(options, new AbortController().signal, 'hidden');
  const context = createContext(options);
  // One that is named by its address may be in production: only `deploy` changes it.
  if (context.client.target().run === undefined) return { context, end: () => Promise.resolve() };
  try {
    const project = await readProject(folder);
    const { definitions, problems } = await toolsOf(folder);
    const all = [...project.problems, ...problems];
    if (all.length > 0) throw new CliError(all.join('\n'), { code: 'InvalidProject' });
    const { client } = context;
    const host = hostNameOf(folder);
    if ((await planTools(client, host, definitions)).length > 0)
      await registerTools(client, host, definitions);
    for (const { apply } of await planProject(client, project)) await apply?.();
  } catch (error) {
    await started?.end();
    throw error;
  }
  return { context, end: async () => started?.end() };
}
