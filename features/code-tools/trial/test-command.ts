/** Implements `tempoclaw tools test`. */
import { readFileSync } from 'node:fs';
import { CliError } from '#cli/cli-error.ts';
import type { ApiOptions } from '#cli/command-context.ts';
import { createOutput, printJson, type Output } from '#cli/output.ts';
import { printable } from '#cli/text.ts';
import { isRecord } from '#domain/outside-value.ts';
import { loadFolder } from '../host/load-folder.ts';
import { tryKills, type Verdict } from './kill-points.ts';
import { runTrial, type Trial } from './run-trial.ts';

export interface TestOptions extends ApiOptions {
  readonly folder: string;
  readonly kill?: boolean;
  readonly secrets?: string;
}

export async function testTool(name: string, args: string, options: TestOptions): Promise<void> {
  const { folder, kill, json } = options;
  const tool = await findTool(folder, name);
  const secrets = options.secrets === undefined ? {} : readSecrets(options.secrets);
  const missing = tool.definition.secrets.filter((secret) => !Object.hasOwn(secrets, secret));
  if (missing.length > 0)
    throw new CliError(`${name} needs secrets: ${missing.join(', ')}.`, {
      remedy: 'Write lines of NAME=value into a file outside git, and name it with --secrets.',
    });
  const out = createOutput(process.stdout);
  const trial = { folder, tool, secrets };
  const inputOf = (number: number): unknown => readArguments(args.replaceAll('{n}', String(number)));
  if (kill !== true) {
    const { result, ms } = await runTrial({ ...trial, input: inputOf(1) });
    if (json === true) printJson(out, { result, ms: Math.round(ms) });
    else out.line(printable(result.ok ? result.text : `${result.code}: ${result.message}`));
    if (!result.ok) process.exitCode = 1;
    return;
  }
  const verdicts: Verdict[] = [];
  for await (const verdict of tryKills(trial, inputOf)) {
    verdicts.push(verdict);
    if (json !== true) printVerdict(out, verdict);
  }
  if (json === true) printJson(out, verdicts);
  if (verdicts.some(({ isWrong }) => isWrong)) process.exitCode = 1;
}

async function findTool(folder: string, name: string): Promise<Trial['tool']> {
  const { definitions, problems } = await loadFolder(folder);
  const found = definitions.find((definition) => definition.name === name);
  if (found) return { definition: found };
  const about = problems.filter((problem) => problem.startsWith(`tools/${name}.`));
  throw new CliError(about.join('\n') || `${folder}/tools has no tool ${name}.`, {
    code: 'InvalidTools',
    remedy: definitions.length > 0 ? `It has ${definitions.map((tool) => tool.name).join(', ')}.` : undefined,
  });
}

function readArguments(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // The error below says what it must be.
  }
  throw new CliError(`The arguments must be a JSON object: ${text}`, { code: 'InvalidArgs' });
}

function readSecrets(file: string): Record<string, string> {
  const lines = readFileSync(file, 'utf8').split(/\r?\n/);
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, name, value] = /^([\w.-]+)=(.*)$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value]];
    }),
  );
}

function printVerdict(out: Output, { point, outcome, note, isWrong }: Verdict): void {
  const { result, runs, probes } = outcome;
  const times = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
  out.line(
    `${isWrong ? out.paint('red', '✘') : out.paint('green', '✔')} ${point}: ${times(runs, 'run')}, ${times(probes, 'probe')}`,
  );
  const read = result.ok ? result.text : `${result.code}: ${result.message}`;
  out.line(`  the model reads: ${printable(read).split('\n')[0]?.slice(0, 200)}`);
  if (note !== '') out.line(`  ${note}`);
}
