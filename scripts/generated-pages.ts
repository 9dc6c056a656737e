/**
 * Checks that all generated pages are up to date; `--write` writes them. The scripts share a process, because they load
 * the same code.
 */
import { globSync } from 'node:fs';
import { resolve } from 'node:path';

for (const script of globSync('scripts/generate-*.ts').toSorted()) await import(resolve(script));
