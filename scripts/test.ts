/**
 * Runs the tests: `npm test [-- <files or node --test flags>]`, and `npm run test:system` for the whole-stack
 * ones. When few files of a whole run failed they are run once more, alone: what passes then is told from what is broken,
 * by name. The last line counts; the exit code is 0 when every test passed at last.
 */
import { spawn } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Outcome } from './test-outcome-reporter.ts';

/** More than this is no matter of a busy machine. */
const MOST_AGAIN = 4;

const args = process.argv.slice(2);
const system = args.includes('--system');
const given = args.filter((arg) => arg !== '--system');
const named = given.filter((arg) => !arg.startsWith('-')).flatMap((arg) => expand(arg));
const flags = given.filter((arg) => arg.startsWith('-'));
const files =
  named.length > 0
    ? named
    : globSync('test/**/*.test.ts').filter((file) => file.startsWith('test/system/') === system);

if (files.length === 0) {
  console.error(
    `There are no ${system ? 'system ' : ''}tests to run${given.length > 0 ? ` for ${given.join(' ')}` : ''}.`,
  );
  process.exit(1);
}

// Ctrl-C reaches the whole group; waiting for node lets its teardown end the servers.
process.on('SIGINT', () => undefined);

const began = performance.now();
// The machine these are tuned for has two cores, and each file has its own process and database.
const first = await run(files.toSorted(), system ? 1 : 2);
// A file whose process ended early has no outcome.
const failed = files.filter((file) => !first.passed.has(resolve(file)));
const tryAgain = given.length === 0 && first.counts && first.code !== 0 && failed.length <= MOST_AGAIN;
if (tryAgain) console.log(`\nOnce more, alone: ${failed.join(' ')}`);
const second = tryAgain ? await run(failed, 1) : undefined;
console.log(`\n${lastLine()}`);
process.exit((second ?? first).code);

interface Run {
  readonly code: number;
  /** Files all of whose tests passed. */
  readonly passed: ReadonlySet<string>;
  /** Absent when the run was broken off. */
  readonly counts: Outcome['counts'] | undefined;
}

function run(paths: readonly string[], concurrency: number): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'tempoclaw-outcome-'));
  const outcome = join(folder, 'outcome.jsonl');
  const child = spawn(
    process.execPath,
    [
      '--test',
      `--test-concurrency=${concurrency}`,
      '--test-global-setup=test/support/services.ts',
      '--disable-warning=ExperimentalWarning',
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      '--test-reporter=./scripts/test-outcome-reporter.ts',
      `--test-reporter-destination=${outcome}`,
      ...flags,
      ...paths,
    ],
    { stdio: 'inherit' },
  );
  const terminate = (): boolean => child.kill('SIGTERM');
  process.on('SIGTERM', terminate);
  return new Promise((settle) => {
    child.once('exit', (code, signal) => {
      process.off('SIGTERM', terminate);
      const lines = existsSync(outcome) ? readFileSync(outcome, 'utf8').split('\n') : [];
      rmSync(folder, { recursive: true, force: true });
      const outcomes = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Outcome);
      settle({
        code: code ?? (signal === 'SIGINT' ? 130 : 1),
        passed: new Set(outcomes.flatMap(({ file, success }) => (success && file ? file : []))),
        counts: outcomes.find(({ file }) => file === undefined)?.counts,
      });
    });
  });
}

function lastLine(): string {
  const seconds = `in ${Math.round((performance.now() - began) / 1000)} s`;
  if (first.counts === undefined) return `broken off ${seconds}`;
  const { tests, passed, skipped } = first.counts;
  const failures = tests - passed - skipped;
  if (second === undefined || second.code !== 0)
    return `${tests} tests: ${passed} passed, ${failures} failed, ${skipped} skipped ${seconds}`;
  return `${tests} tests: ${tests - skipped} passed, ${failures} of them only alone, 0 failed, ${skipped} skipped ${seconds}`;
}

/** A file, a folder (its tests) or a word that file names must hold. */
function expand(arg: string): string[] {
  if (arg.endsWith('.ts') && existsSync(arg)) return [arg];
  if (existsSync(arg)) return globSync(`${arg.replace(/\/+$/, '')}/**/*.test.ts`);
  return globSync('test/**/*.test.ts').filter((file) => file.includes(arg));
}
