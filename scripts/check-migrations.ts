/**
 * Checks that migrations are numbered 0001, 0002 … without a gap, each number once. Two branches may each have taken
 * the next one.
 */
import { globSync, readdirSync } from 'node:fs';

const value = process.argv[2];
const folders = value === undefined ? ['store/migrations', ...globSync('features/*/migrations')] : [value];

const problems: string[] = [];
for (const folder of folders) check(folder);

function check(folder: string): void {
  let before = { file: 'the beginning', number: 0 };
  for (const file of readdirSync(folder).toSorted()) {
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
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
