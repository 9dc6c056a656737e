/** Implements `tempoclaw test`: replays recordings, and names the first difference of each. */
import { writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Command } from 'commander';
import { outputFile } from '#cli/output-file.ts';
import { CliError, usageError } from '#cli/cli-error.ts';
import { type ApiOptions, type CommandContext, createContext } from '#cli/command-context.ts';
import { printJson } from '#cli/output.ts';
import { printable } from '#cli/text.ts';
import { isProject, openFolder } from '#features/projects/index.ts';
import { junitOf } from '../junit.ts';
import { readRecordingFile, recordingFiles, writeRecordingFile } from '../recording-file.ts';
import { runReplay } from '../run-replay.ts';
import type { Difference, ReplayMode } from '../schema.ts';

interface TestOptions extends ApiOptions {
  readonly update?: boolean;
  readonly live?: boolean;
  readonly junit?: string;
}

type Mode = Exclude<ReplayMode, 'script'>;

interface Result {
  readonly file: string;
  readonly passed: boolean;
  readonly session: string | null;
  readonly difference: Difference | null;
  /** Why it could not be replayed. */
  readonly error: string | null;
  readonly seconds: number;
}

export function register(test: Command): void {
  test
    .argument('<files...>', 'recordings, or folders of them')
    .option('--update', 'accept what differs: write what the models are asked now into the files')
    .option('--live', 'let the models answer themselves, and compare the calls they make')
    .option('--junit <file>', 'write the results there as JUnit XML', outputFile)
    .action(run);
}

async function run(files: readonly string[], options: TestOptions): Promise<void> {
  const mode = modeOf(options);
  const paths = recordingFiles(files.map((file) => resolve(file)));
  // In a folder of agents the agents as its files say are tested.
  const { context, end } = isProject(process.cwd())
    ? await openFolder(options)
    : { context: createContext(options), end: () => Promise.resolve() };
  try {
    await testFiles(context, paths, mode, options);
  } finally {
    await end();
  }
}

async function testFiles(
  context: CommandContext,
  files: readonly string[],
  mode: Mode,
  { junit }: TestOptions,
): Promise<void> {
  const results: Result[] = [];
  for (const file of files) {
    const result = await testFile(context, file, mode);
    results.push(result);
    if (!context.json) printResult(context, result);
  }
  if (context.json) printJson(context.out, { data: results });
  if (junit !== undefined)
    writeFileSync(
      junit,
      junitOf(
        'tempoclaw test',
        results.map((one) => ({ name: one.file, seconds: one.seconds, failure: failureOf(one) })),
      ),
    );
  if (results.some(({ passed }) => !passed)) process.exitCode = 1;
}

function modeOf({ update, live }: TestOptions): Mode {
  if (update && live) throw usageError('--update and --live do not go together.');
  return update ? 'record' : live ? 'live' : 'compare';
}

async function testFile({ client }: CommandContext, file: string, mode: Mode): Promise<Result> {
  const started = performance.now();
  const result = (found: Partial<Result>): Result => ({
    file,
    session: null,
    difference: null,
    error: null,
    ...found,
    passed: !found.difference && !found.error,
    seconds: (performance.now() - started) / 1000,
  });
  try {
    const replayed = await runReplay(client, readRecordingFile(file), mode);
    if (mode === 'record' && !replayed.difference) writeRecordingFile(file, replayed.recording);
    return result({ session: replayed.session, difference: replayed.difference });
  } catch (error) {
    // One file that cannot be used must not hide what the others show.
    if (error instanceof CliError) return result({ error: error.message });
    throw error;
  }
}

export function differenceWords({ turn, step, message }: Difference): string {
  return `Turn ${turn}, step ${step}: ${message}`;
}

function failureOf({ difference, error }: Result): string | undefined {
  return difference ? differenceWords(difference) : (error ?? undefined);
}

function printResult({ out }: CommandContext, result: Result): void {
  const failure = failureOf(result);
  const name = basename(result.file);
  if (failure === undefined) return out.line(`${out.paint('green', '✔')} ${printable(name)}`);
  out.line(`${out.paint('red', '✘')} ${printable(name)}`);
  out.line(`  ${printable(failure)}`);
  if (result.session !== null) out.line(out.paint('dim', `  session ${result.session}`));
}
