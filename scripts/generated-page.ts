/**
 * A page of docs that a script makes. `--write` writes it; without it, the script fails if the page is not up to date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

export function keepPage(file: string, page: string): void {
  if (process.argv.includes('--write')) return writeFileSync(file, page);
  if (readFileSync(file, 'utf8') === page) return;
  const script = basename(process.argv[1] ?? '');
  console.error(`${file} is not up to date: run npx node scripts/${script} --write`);
  process.exitCode = 1;
}
