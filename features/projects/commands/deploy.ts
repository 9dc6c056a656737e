/** Implements `tempoclaw deploy`: shows how an installation differs from a folder, and makes it the same. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { isAgreed } from '#cli/agree.ts';
import { CliError } from '#cli/cli-error.ts';
import { type ApiOptions, type CommandContext, createContext, wholeNumber } from '#cli/command-context.ts';
import { type Output, printJson } from '#cli/output.ts';
import { hostNameOf, registerTools } from '#features/code-tools/index.ts';
import { type Change, planCode, planProject } from '../plan.ts';
import { requireProject } from '../open-folder.ts';
import { readProject } from '../read-project.ts';
import { withCodeHooks } from '../code-hooks.ts';
import { requireOwnFeatures } from '../own-features.ts';
import { codeOf } from '../project-code.ts';

interface DeployOptions extends ApiOptions {
  readonly plan?: boolean;
  readonly yes?: boolean;
  readonly rollout?: number;
}

export function register(deploy: Command): void {
  deploy
    .argument('[folder]', 'it contains agents/, skills/, schedules/, tools/ or hooks/', '.')
    .option('--plan', 'only show what would change')
    .option('--yes', 'do not ask')
    .option('--rollout <percent>', 'give changed agents to so many of 100 users first', wholeNumber(0, 100))
    .action(run);
}

async function run(folder: string, options: DeployOptions): Promise<void> {
  requireProject(resolve(folder));
  const context = createContext(options);
  const { client, out, json } = context;
  const { rollout: share } = options;
  const host = hostNameOf(folder);
  const code = await codeOf(folder);
  const project = withCodeHooks(await readProject(folder), host, code.hooks);
  refuseProblems(context, [...project.problems, ...code.problems]);
  await requireOwnFeatures(context, folder);
  const tools = await planCode(client, host, code);
  const changes = [
    ...tools,
    ...(await planProject(client, project, share === undefined ? undefined : { share })),
  ];
  const shown = changes.map(({ apply: _apply, ...change }) => change);
  if (!json) printPlan(out, changes);
  const isApplied = options.plan
    ? false
    : changes.length > 0 && (await isAgreed(context, { yes: options.yes, message: 'Make these changes?' }));
  if (isApplied) {
    // Agents and schedules may need the tools.
    if (tools.length > 0) await registerTools(client, host, code);
    await applyChanges(changes);
  }
  if (json) printJson(out, { changes: shown, applied: isApplied });
  else if (isApplied) out.line(`${changes.length} changes applied`);
}

/** @throws CliError when there is one */
export function refuseProblems({ err }: Pick<CommandContext, 'err'>, problems: readonly string[]): void {
  for (const problem of problems) err.line(problem);
  if (problems.length > 0)
    throw new CliError('The folder has files that are wrong; nothing was changed.', {
      code: 'InvalidProject',
      remedy: 'See docs/projects.md for what a file contains.',
    });
}

const SIGNS = { create: '+', change: '~', remove: '-' } as const;

export function printPlan(out: Output, changes: readonly Change[]): void {
  for (const { action, kind, name, fields } of changes)
    out.line(`${SIGNS[action]} ${kind} ${name}${fields.length > 0 ? `: ${fields.join(', ')}` : ''}`);
  if (changes.length === 0) out.line('Nothing differs.');
}

/** One after the other. Safe to repeat. @throws CliError that names the first that failed */
export async function applyChanges(changes: readonly Change[]): Promise<void> {
  for (const { kind, name, apply } of changes)
    await apply?.().catch((error: unknown) => {
      if (!(error instanceof CliError)) throw error;
      const { message, code, exitCode, remedy } = error;
      throw new CliError(`${kind} ${name}: ${message}`, {
        code,
        exitCode,
        ...(remedy !== undefined && { remedy }),
      });
    });
}
