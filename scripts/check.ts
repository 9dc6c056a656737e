/**
 * Checks all rules that a machine can check: format, lint, types, boundaries, dead code, words of names, numbers of
 * migrations, the lock of packages, generated docs. It runs the checks side by side and prints what each finds. The
 * exit code is 1 if one fails.
 */
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Folders that contain code. */
const folders =
  'packages domain features workflows policy store temporal activities workers api cli console/src config scripts test bench'.split(
    ' ',
  );

const CHECKS: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ['format', 'biome', 'format', '.'],
  ['lint', 'oxlint', '--type-aware', '--deny-warnings', 'config.ts', ...folders],
  ['types', 'tsc', '--noEmit', '--checkers', '1'],
  ['types of the console', 'tsc', '--noEmit', '--project', 'console'],
  ['boundaries', 'depcruise', '--config', '.dependency-cruiser.cjs', 'config.ts', ...folders],
  ['dead code', 'knip'],
  ['names', process.execPath, 'scripts/check-names.ts'],
  ['migrations', process.execPath, 'scripts/check-migrations.ts'],
  ['lock', process.execPath, 'scripts/check-lock.ts'],
  ['generated pages', process.execPath, 'scripts/generated-pages.ts'],
];

/** PATH includes the programs of the packages, also if nothing else has added them. */
const env = {
  ...process.env,
  PATH: ['node_modules/.bin', process.env['PATH']].join(delimiter),
  // Node keeps compiled code by the content of its source.
  NODE_COMPILE_CACHE: join(tmpdir(), 'tempoclaw-compiled'),
  // The checks of types are programs in Go, which run side by side. Several threads of one would each check the types of
  // the files that theirs share, and half of the time would go into collecting memory, of which neither needs 2 GB.
  GOMAXPROCS: '1',
  GOGC: 'off',
  GOMEMLIMIT: '2GiB',
};

interface Outcome {
  readonly name: string;
  readonly code: number;
  readonly seconds: number;
  readonly output: string;
}

function run([name, command, ...args]: (typeof CHECKS)[number]): Promise<Outcome> {
  const started = performance.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
    let output = '';
    const add = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on('data', add);
    child.stderr.on('data', add);
    const end = (code: number): void =>
      resolve({ name, code, seconds: (performance.now() - started) / 1000, output });
    child.once('error', (error) => {
      output += error.message;
      end(1);
    });
    child.once('close', (code) => end(code ?? 1));
  });
}

const outcomes = await Promise.all(CHECKS.map(run));
for (const outcome of outcomes) {
  console.log(`${outcome.code === 0 ? 'ok  ' : 'FAIL'} ${outcome.name} (${outcome.seconds.toFixed(1)} s)`);
  if (outcome.code !== 0) console.log(outcome.output.trimEnd());
}
process.exit(outcomes.some((outcome) => outcome.code !== 0) ? 1 : 0);
