/** Implements `tempoclaw eval`: runs `evals/*.eval.ts` of a folder of agents with node:test, each file in a process. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Command, InvalidArgumentError } from 'commander';
import { outputFile } from '#cli/output-file.ts';
import { CliError } from '#cli/cli-error.ts';
import type { ApiOptions } from '#cli/command-context.ts';
import { childEnvironment } from '#config';
import { isProject, openFolder } from '#features/projects/index.ts';

interface EvalCommandOptions extends ApiOptions {
  readonly junit?: string;
  readonly only?: string;
}

const EVAL = /\.eval\.m?[jt]s$/;
const PRELOAD = new URL('../eval/preload.ts', import.meta.url).href;
const JSON_REPORTER = fileURLToPath(new URL('../eval/json-reporter.ts', import.meta.url));
const JUNIT_REPORTER = fileURLToPath(new URL('../eval/junit-reporter.ts', import.meta.url));

export function register(command: Command): void {
  command
    .argument('[folder]', 'it contains agents/ and evals/', '.')
    .option('--only <pattern>', 'only evals whose name matches this regular expression', readPattern)
    .option('--junit <file>', 'write the results there as JUnit XML', outputFile)
    .action(run);
}

async function run(folder: string, flags: EvalCommandOptions): Promise<void> {
  const path = resolve(folder);
  const junit = flags.junit === undefined ? undefined : resolve(flags.junit);
  const options = { ...flags, ...(flags.stateDir !== undefined && { stateDir: resolve(flags.stateDir) }) };
  const evals = join(path, 'evals');
  const files = existsSync(evals) ? readdirSync(evals).filter((name) => EVAL.test(name)) : [];
  if (!isProject(path) || files.length === 0)
    throw new CliError(`${evals} has no files NAME.eval.ts.`, {
      code: 'InvalidProject',
      remedy: 'See docs/evals.md for what an eval looks like.',
    });
  process.chdir(path);
  const folderOfResults = mkdtempSync(join(tmpdir(), 'tempoclaw-eval-'));
  const results = join(folderOfResults, 'results.jsonl');
  const { context, end } = await openFolder(options);
  try {
    const { url, key } = context.client.target();
    const code = await runFiles(
      files.toSorted().map((name) => join(evals, name)),
      { json: context.json, only: flags.only, junit, results },
      {
        // Files that node:test itself has started would not run any.
        NODE_TEST_CONTEXT: undefined,
        ...(options.url !== undefined && { TEMPOCLAW_URL: url }),
        ...(options.apiKey !== undefined && { TEMPOCLAW_API_KEY: key }),
        ...(options.stateDir !== undefined && { TEMPOCLAW_STATE_DIR: options.stateDir }),
      },
    );
    if (code !== 0) process.exitCode = 1;
    else if (flags.only !== undefined && readFileSync(results, 'utf8') === '')
      throw new CliError(`No eval has a name that matches ${flags.only}.`, { code: 'NotFound' });
  } finally {
    rmSync(folderOfResults, { recursive: true, force: true });
    await end();
  }
}

/** For commander. */
function readPattern(value: string): string {
  try {
    return RegExp(value).source && value;
  } catch {
    throw new InvalidArgumentError('It is no regular expression.');
  }
}

interface Outputs {
  readonly json: boolean;
  readonly only: string | undefined;
  readonly junit: string | undefined;
  /** Gets a line for each eval that ran. */
  readonly results: string;
}

/** Resolves with the exit code of node:test. */
function runFiles(
  files: readonly string[],
  { json, only, junit, results }: Outputs,
  more: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const args = ['--import', PRELOAD, '--test', `--test-reporter=${json ? JSON_REPORTER : 'spec'}`];
  args.push('--test-reporter-destination=stdout');
  // Node says of a file without a matching eval that it has passed.
  args.push(`--test-reporter=${JSON_REPORTER}`, `--test-reporter-destination=${results}`);
  if (junit !== undefined)
    args.push(`--test-reporter=${JUNIT_REPORTER}`, `--test-reporter-destination=${junit}`);
  if (only !== undefined) args.push(`--test-name-pattern=${only}`);
  const child = spawn(process.execPath, [...args, ...files], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: childEnvironment(more),
  });
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('exit', (code) => done(code ?? 1));
  });
}
