/**
 * Runs the tests: `npm test [-- <files or node --test flags>]`, and `npm run test:system` for the whole-stack
 * ones. Each test runs once. The last line counts; the exit code is 0 when every test passed.
 */
import { spawn } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { userCacheDir } from '#config';
import type { Counts } from './test-counts-reporter.ts';

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
const folder = mkdtempSync(join(tmpdir(), 'tempoclaw-outcome-'));
const outcome = join(folder, 'counts.json');
const child = spawn(
  process.execPath,
  [
    '--test',
    `--test-concurrency=${system ? 1 : 2}`,
    '--test-global-setup=test/support/services.ts',
    '--disable-warning=ExperimentalWarning',
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=./scripts/test-counts-reporter.ts',
    `--test-reporter-destination=${outcome}`,
    // Only what hangs meets it; long ones name a time of their own.
    '--test-timeout=300000',
    ...flags,
    ...files.toSorted(),
  ],
  { stdio: 'inherit', env: { ...process.env, NODE_COMPILE_CACHE: join(userCacheDir(), 'compiled') } },
);
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.once('exit', (code, signal) => {
  // Empty when the run was broken off.
  const counts = existsSync(outcome) ? readFileSync(outcome, 'utf8') : '';
  rmSync(folder, { recursive: true, force: true });
  const seconds = `in ${Math.round((performance.now() - began) / 1000)} s`;
  console.log(`\n${counts === '' ? 'broken off' : wordsOf(JSON.parse(counts) as Counts)} ${seconds}`);
  process.exit(code ?? (signal === 'SIGINT' ? 130 : 1));
});

function wordsOf({ tests, passed, skipped }: Counts): string {
  return `${tests} tests: ${passed} passed, ${tests - passed - skipped} failed, ${skipped} skipped`;
}

/** A file, a folder (its tests) or a word that file names must hold. */
function expand(arg: string): string[] {
  if (arg.endsWith('.ts') && existsSync(arg)) return [arg];
  if (existsSync(arg)) return globSync(`${arg.replace(/\/+$/, '')}/**/*.test.ts`);
  return globSync('test/**/*.test.ts').filter((file) => file.includes(arg));
}
