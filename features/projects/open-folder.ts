/** Brings a folder of agents to the installation that runs for it, for commands that try the folder. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CliError } from '#cli/cli-error.ts';
import { type ApiOptions, type CommandContext, createContext } from '#cli/command-context.ts';
import { hostNameOf, registerTools } from '#features/code-tools/index.ts';
import { planCode, planProject } from './plan.ts';
import { readProject } from './read-project.ts';
import { startIfNone } from './start-installation.ts';
import { withCodeHooks } from './code-hooks.ts';
import { codeOf } from './project-code.ts';

export interface OpenedFolder {
  readonly context: CommandContext;
  /** Ends the installation if it was started here. */
  end(): Promise<void>;
}

export function isProject(folder: string): boolean {
  return ['agents', 'tools', 'skills', 'schedules', 'hooks', 'features'].some((name) =>
    existsSync(join(folder, name)),
  );
}

/** @throws CliError InvalidProject when nothing in it can be deployed, as in a folder that does not exist */
export function requireProject(folder: string): void {
  if (!isProject(folder))
    throw new CliError(`${folder} has no agents/, tools/, skills/, schedules/, hooks/ or features/.`, {
      code: 'InvalidProject',
      remedy: 'Make a folder with: npx tempoclaw init my-agents',
    });
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
    const host = hostNameOf(folder);
    const code = await codeOf(folder);
    const project = withCodeHooks(await readProject(folder), host, code.hooks);
    const all = [...project.problems, ...code.problems];
    if (all.length > 0) throw new CliError(all.join('\n'), { code: 'InvalidProject' });
    const { client } = context;
    if ((await planCode(client, host, code)).length > 0) await registerTools(client, host, code);
    for (const { apply } of await planProject(client, project)) await apply?.();
  } catch (error) {
    await started?.end();
    throw error;
  }
  return { context, end: async () => started?.end() };
}
