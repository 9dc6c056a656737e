/**
 * Checks that migrations are numbered 0001, 0002 … without a gap, each number once (two branches may each have taken
 * the next one), and that those of a release, and its SQL functions, are as they were released (store/released.json).
 * `--release` records those of the version in package.json.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };

interface Released {
  /** The oldest version that may run beside this one; older ones may lack what they call. */
  readonly oldest: string;
  /** SHA-256 of each file that a release adds, by its version. */
  readonly releases: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const FUNCTIONS = 'store/functions';
const RECORD = 'store/released.json';

const [value] = process.argv.slice(2);
const isRelease = value === '--release';
/** A test names a root of its own. */
const root = value === undefined || isRelease ? '.' : value;
const folders = ['store/migrations', ...globSync('features/*/migrations', { cwd: root })].toSorted();
const released = JSON.parse(readFileSync(join(root, RECORD), 'utf8')) as Released;

const problems: string[] = [];
for (const folder of folders) checkNumbers(folder);
if (isRelease) record();
else for (const [version, files] of Object.entries(released.releases)) checkRelease(version, files);

function checkNumbers(folder: string): void {
  let before = { file: 'the beginning', number: 0 };
  for (const file of readdirSync(join(root, folder)).toSorted()) {
    const digits = /^(\d{4})_[a-z0-9_]+\.sql$/.exec(file)?.[1];
    if (digits === undefined) {
      problems.push(`${file} is no migration: its name must be a number of four digits, _, words and .sql`);
      continue;
    }
    const number = Number(digits);
    if (number === before.number)
      problems.push(`${before.file} and ${file} have one number; give the newer one the next`);
    else if (number !== before.number + 1)
      problems.push(`between ${before.file} and ${file} a number is missing`);
    before = { file, number };
  }
}

function checkRelease(version: string, files: Readonly<Record<string, string>>): void {
  for (const [file, digest] of Object.entries(files)) {
    const isThere = existsSync(join(root, file));
    if (isThere && digestOf(file) === digest) continue;
    // Functions that only versions of before the oldest call may go.
    if (!isThere && file.startsWith(FUNCTIONS) && isBefore(version, released.oldest)) continue;
    const remedy = file.startsWith(FUNCTIONS)
      ? 'put it back, and write the change as a function with another name, such as end_turn_2'
      : 'put it back, and write the change as a new migration';
    problems.push(
      `${file} ${isThere ? 'is not as' : 'is gone since'} TempoClaw ${version} released it: ${remedy}`,
    );
  }
}

/** Files that an earlier release has are left to it. */
function record(): void {
  const others = Object.entries(released.releases).filter(([version]) => version !== manifest.version);
  const known = new Set(others.flatMap(([, files]) => Object.keys(files)));
  const files = [...folders, FUNCTIONS]
    .flatMap((folder) => readdirSync(folder).map((file) => `${folder}/${file}`))
    .filter((file) => !known.has(file))
    .toSorted();
  const own = Object.fromEntries(files.map((file) => [file, digestOf(file)]));
  const releases = { ...Object.fromEntries(others), [manifest.version]: own };
  writeFileSync(RECORD, `${JSON.stringify({ ...released, releases }, null, 2)}\n`);
}

function digestOf(file: string): string {
  return createHash('sha256')
    .update(readFileSync(join(root, file)))
    .digest('hex');
}

function isBefore(one: string, other: string): boolean {
  return one.localeCompare(other, 'en', { numeric: true }) < 0;
}

if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
