/** Implements `tempoclaw import goclaw` and `import clawft`: a plan of what a folder brings, then the change. */
import type { Command } from 'commander';
import { CliError } from '#cli/cli-error.ts';
import { type ApiOptions, type CommandContext, createContext } from '#cli/command-context.ts';
import { printJson } from '#cli/output.ts';
import { isAgreed } from '#cli/agree.ts';
import { printPlan } from '#features/projects/index.ts';
import { readClawft } from './clawft/read-clawft.ts';
import type { Findings, Remark } from './findings.ts';
import { readGoclaw } from './goclaw/read-goclaw.ts';
import { type ImportChange, planImport } from './plan.ts';
import { openFolder, type SourceFolder } from './source-folder.ts';

interface ImportOptions extends ApiOptions {
  readonly plan?: boolean;
  readonly yes?: boolean;
  readonly replace?: boolean;
}

const SYSTEMS: Readonly<
  Record<string, { readonly label: string; readonly read: (source: SourceFolder) => Promise<Findings> }>
> = {
  goclaw: { label: 'GoClaw', read: readGoclaw },
  clawft: { label: 'clawft', read: readClawft },
};

export function register(command: Command): void {
  for (const [name, { label, read }] of Object.entries(SYSTEMS))
    command
      .command(name)
      .description(`agents, skills, tools, schedules and channels from a folder of ${label}`)
      .argument('<folder>', `the state folder of ${label}, or exports of it, unpacked`)
      .option('--plan', 'only show what would change')
      .option('--yes', 'do not ask')
      .option('--replace', 'change what is there already and differs')
      .action((folder: string, options: ImportOptions) => run(folder, read, options));
}

async function run(
  folder: string,
  read: (source: SourceFolder) => Promise<Findings>,
  options: ImportOptions,
): Promise<void> {
  const context = createContext(options);
  const { client, out, json } = context;
  const findings = await read(openFolder(folder));
  const all = await planImport(client, findings);
  const isKept = ({ action }: ImportChange): boolean => action === 'change' && options.replace !== true;
  const changes = all.filter((change) => !isKept(change) && change.missing.length === 0);
  const waiting = all.filter((change) => !isKept(change) && change.missing.length > 0);
  const kept: readonly Remark[] = all.filter(isKept).map(({ kind, name, fields }) => ({
    what: `${kind} ${name}`,
    why: `it is there and differs (${fields.join(', ')}); --replace changes it`,
  }));
  const remarks = [...kept, ...findings.remarks];
  if (!json) {
    printPlan(out, changes);
    printRest(context, waiting, remarks);
  }
  const isApplied = options.plan
    ? false
    : changes.length > 0 && (await isAgreed(context, { yes: options.yes, message: 'Make these changes?' }));
  const refused = isApplied ? await applyEach(changes) : [];
  const shown = (list: readonly ImportChange[]) => list.map(({ apply: _apply, ...change }) => change);
  if (json)
    printJson(out, {
      changes: shown(changes),
      waiting: shown(waiting),
      remarks,
      applied: isApplied,
      refused,
    });
  else if (isApplied) out.line(`${changes.length - refused.length} changes applied`);
  if (refused.length > 0)
    throw new CliError(refused.map(({ what, why }) => `${what}: ${why}`).join('\n'), {
      code: 'Refused',
      remedy: 'Mend what is named, and import again: what was made stays.',
    });
}

function printRest(
  { out }: CommandContext,
  waiting: readonly ImportChange[],
  remarks: readonly Remark[],
): void {
  for (const { kind, name, missing } of waiting) out.line(`? ${kind} ${name}: needs ${missing.join(', ')}`);
  for (const { what, why } of remarks) out.line(`! ${what}: ${why}`);
  const secrets = [...new Set(waiting.flatMap(({ missing }) => missing))];
  if (secrets.length === 0) return;
  out.line('Set these secrets, and import again. Each asks for its value:');
  for (const name of secrets) out.line(`  npx tempoclaw secrets set ${name}`);
}

/** One that is refused keeps no other from being made. */
async function applyEach(changes: readonly ImportChange[]): Promise<readonly Remark[]> {
  const refused: Remark[] = [];
  for (const { kind, name, apply } of changes)
    try {
      await apply?.();
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      refused.push({ what: `${kind} ${name}`, why: error.message });
    }
  return refused;
}
