/**
 * Builds the npm package `@tempoclaw/client`: `npx node scripts/build-client.ts FOLDER`. It is JavaScript with types,
 * because Node strips no types in installed packages, and bundlers of others do not all.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const SOURCE = 'packages/client';
const folder = resolve(process.argv[2] ?? 'dist/client');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const target = ['--module', 'nodenext', '--target', 'es2022', '--lib', 'es2024,dom,dom.iterable'];
const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--skipLibCheck'];
const emitted = ['--declaration', '--rewriteRelativeImportExtensions', '--outDir', join(folder, 'dist')];
execFileSync(
  process.execPath,
  [
    'node_modules/typescript/bin/tsc',
    `${SOURCE}/src/client.ts`,
    '--ignoreConfig',
    '--types',
    '',
    ...target,
    ...strict,
    ...emitted,
  ],
  { stdio: 'inherit' },
);
// The compiler rewrites the names of our files in the code, but not in the types.
for (const file of globSync(join(folder, 'dist/*.d.ts')))
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
cpSync(`${SOURCE}/README.md`, join(folder, 'README.md'));
const {
  private: _private,
  devDependencies: _dev,
  ...manifest
} = JSON.parse(readFileSync(`${SOURCE}/package.json`, 'utf8')) as Readonly<Record<string, unknown>>;
const published = {
  ...manifest,
  exports: { '.': { types: './dist/client.d.ts', default: './dist/client.js' } },
  files: ['dist'],
  engines: { node: '>=20.3' },
};
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
