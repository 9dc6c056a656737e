/**
 * Runs the tests: `npm test [-- <files or node --test flags>]`, `npm run test:unit` for those that need no server, and
 * `npm run test:system` for those of whole programs. Each test runs once. The last line contains the counts; the exit
 * code is 0 when every test passed.
 */
import { spawn } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { userCacheDir } from '#config';
import type { Outcome } from './test-outcome-reporter.ts';
import { batchesOf, serversOf, type TestBatch, testFiles, TESTS } from './test-files.ts';

const args = process.argv.slice(2);
const system = args.includes('--system');
const unit = args.includes('--unit');
const values = args.filter((arg) => arg !== '--system' && arg !== '--unit');
const names = values.filter((arg) => !arg.startsWith('-'));
const flags = values.filter((arg) => arg.startsWith('-'));
/** Otherwise only tests with some names run. */
const isWhole = !flags.some((flag) => flag.startsWith('--test-name') || flag === '--test-only');
const files =
  names.length > 0
    ? names.flatMap(expand)
    : testFiles(system ? ['system'] : unit ? ['unit'] : ['unit', 'live']);

/** Replaces features/index.ts with an empty list. */
const CORE_ALONE = `import { registerHooks } from 'node:module';
registerHooks({ resolve: (name, context, next) => name === '#features'
  ? { url: ${urlOf('test/support/no-features.ts')}, shortCircuit: true } : next(name, context) });`;

/**
 * The callbacks of all suites are called at once. Files that are loaded beside each other wait for the same modules, and
 * then run in the context of whichever asked for these first: their tests would be registered in its suite. The runner
 * finds the suite by promises, so that a file waits for its turn by a promise of its own.
 */
const LOAD_IN_TURN = `const waiting = [];
let isLoading = false;
async function load(url) {
  if (isLoading) await new Promise((resolve) => waiting.push(resolve));
  isLoading = true;
  try {
    await import(url);
  } finally {
    isLoading = false;
    waiting.shift()?.();
  }
}`;

/**
 * Ends the process even if a failed test left something open, such as a server. Node's --test-force-exit does this too,
 * but it also ends the runner before the global teardown stops the servers of the run.
 */
const END_ANYWAY = 'after(() => void setTimeout(() => process.exit(), 5_000).unref());';

/** Long runs, such as TEST_MINUTES=20, are not runs of CI. */
const SYSTEM_FILE_MS = process.env['CI'] ? 900_000 : 3_600_000;

const unknown = names.filter((name) => expand(name).length === 0);
if (unknown.length > 0) {
  console.error(`There are no tests for ${unknown.join(' ')}.`);
  process.exit(1);
}

const began = performance.now();
const folder = mkdtempSync(join(tmpdir(), 'tempoclaw-outcome-'));
const outcome = join(folder, 'outcome.json');
const servers = serversOf(files);
const child = spawn(
  process.execPath,
  [
    '--test',
    // The tests are tuned for a machine with two cores; waiting tests leave it to others. Programs are
    // several processes.
    `--test-concurrency=${system ? 2 : 3}`,
    ...(servers.size > 0 ? ['--test-global-setup=test/support/services.ts'] : []),
    '--disable-warning=ExperimentalWarning',
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=./scripts/test-outcome-reporter.ts',
    `--test-reporter-destination=${outcome}`,
    ...flags,
    ...batchesOf(files).map(writeBatch),
  ],
  {
    stdio: 'inherit',
    // The runner does not end its processes when it is ended, so that their whole group must be.
    detached: true,
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: join(userCacheDir(), 'compiled'),
      // Packages know no settings.
      TEST_CACHE_DIR: userCacheDir(),
      TEST_SERVERS: [...servers].join(' '),
    },
  },
);
// Waiting for the runner lets its teardown end the servers.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => child.pid !== undefined && process.kill(-child.pid, 'SIGINT'));
child.once('exit', (code, signal) => {
  endGroup();
  // The file is empty when the run was interrupted.
  const message = existsSync(outcome) ? readFileSync(outcome, 'utf8') : '';
  rmSync(folder, { recursive: true, force: true });
  const seconds = `in ${Math.round((performance.now() - began) / 1000)} s`;
  const found = message === '' ? undefined : (JSON.parse(message) as Outcome);
  const empty = isWhole ? (found?.empty ?? []) : [];
  for (const file of empty) console.error(`${file}: no test ran in its suite; is a describe asynchronous?`);
  console.log(`\n${found ? wordsOf(found) : 'broken off'} ${seconds}`);
  process.exit(code === 0 && empty.length > 0 ? 1 : (code ?? (signal === 'SIGINT' ? 130 : 1)));
});

/**
 * Ends what the runner has left: a process that handles signals, as the worker of Temporal's SDK does, hears of none while
 * it is busy.
 */
function endGroup(): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}

/**
 * Writes a module that has each file as a suite, one after the other. They load the code once and keep their hooks to
 * themselves. Only a file that hangs reaches the time limit of a file; long ones set a limit of their own.
 */
function writeBatch({ files: batch, isCore }: TestBatch, index: number): string {
  // Node runs files in the order of their names.
  const path = join(folder, `batch-${String(index).padStart(3, '0')}.mjs`);
  const timeout = system ? SYSTEM_FILE_MS : 300_000;
  const suites = batch.map(
    (file) =>
      `suite(${JSON.stringify(file)}, { timeout: ${timeout} }, async () => { before(untrackPromises); await load(${urlOf(file)}); });`,
  );
  const lines = [
    `import { untrackPromises } from ${urlOf('test/support/untracked-promises.ts')};`,
    "const { after, before, suite } = await import('node:test');",
    ...(isCore ? [CORE_ALONE] : []),
    LOAD_IN_TURN,
    ...suites,
    END_ANYWAY,
  ];
  writeFileSync(path, [...lines, ''].join('\n'));
  return path;
}

/** The address of a file of ours, as text of JavaScript. */
function urlOf(file: string): string {
  return JSON.stringify(pathToFileURL(resolve(file)).href);
}

function wordsOf({ counts, slowest }: Outcome): string {
  const { tests, passed, skipped } = counts;
  const files = slowest.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}\n`).join('');
  const words = `${tests} tests: ${passed} passed, ${tests - passed - skipped} failed, ${skipped} skipped`;
  return slowest.length > 1 ? `The slowest files:\n${files}\n${words}` : words;
}

/** Expands a file, a folder (its tests), or a word that file names must contain. */
function expand(arg: string): string[] {
  if (arg.endsWith('.ts') && existsSync(arg)) return [arg];
  if (existsSync(arg)) return globSync(`${arg.replace(/\/+$/, '')}/**/*.test.ts`);
  return globSync(TESTS).filter((file) => file.includes(arg));
}
