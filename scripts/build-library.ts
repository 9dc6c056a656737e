/**
 * Builds the npm package of a library for others: `npx node scripts/build-library.ts NAME FOLDER`, such as `client`. It
 * is JavaScript with types, because Node strips no types in installed packages, and bundlers of others do not all. Of
 * our own packages, it contains what it imports.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

interface Manifest {
  readonly name: string;
  readonly exports: { readonly '.': string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** What each needs of its surroundings, and the files besides its entry that others load. */
const LIBRARIES: Readonly<
  Record<string, { readonly lib: string; readonly types: string; readonly entries: readonly string[] }>
> = {
  client: { lib: 'es2024,dom,dom.iterable', types: '', entries: [] },
  temporal: { lib: 'es2024', types: 'node', entries: ['src/workflow.ts'] },
};
const OURS = '@tempoclaw/';

const [name = '', target = join('dist', name)] = process.argv.slice(2);
const library = LIBRARIES[name];
if (!library) throw new Error(`name one of ${Object.keys(LIBRARIES).join(', ')}, then a folder`);
const folder = resolve(target);
const dist = join(folder, 'dist');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

const { dependencies = {}, private: _private, devDependencies: _dev, ...manifest } = readManifest(name);
compile(name, library.entries, dist);
const own = Object.keys(dependencies).filter((each) => each.startsWith(OURS));
for (const each of own) compile(each.slice(OURS.length), [], join(dist, each.slice(OURS.length)));
for (const file of globSync(join(dist, '**/*.{js,d.ts}'))) writeFileSync(file, withOurFiles(file));
cpSync(`packages/${name}/README.md`, join(folder, 'README.md'));
const others = Object.entries(dependencies).filter(([each]) => !own.includes(each));
const published = {
  ...manifest,
  ...(others.length > 0 && { dependencies: Object.fromEntries(others) }),
  exports: { '.': { types: entryOf(name, '.d.ts'), default: entryOf(name, '.js') } },
  files: ['dist'],
  engines: { node: '>=20.3' },
};
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);

function readManifest(of: string): Manifest {
  return JSON.parse(readFileSync(`packages/${of}/package.json`, 'utf8')) as Manifest;
}

/** The path of a built package's entry in its folder. */
function entryOf(of: string, ending: string): string {
  return readManifest(of).exports['.'].replace('./src/', './dist/').replace(/\.ts$/, ending);
}

function compile(of: string, entries: readonly string[], outDir: string): void {
  const source = `packages/${of}`;
  const { lib = '', types = '' } = library ?? {};
  const options = [
    '--ignoreConfig --module nodenext --target es2022 --declaration --rewriteRelativeImportExtensions',
    '--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --skipLibCheck',
  ].flatMap((line) => line.split(' '));
  const files = [readManifest(of).exports['.'], ...entries].map((entry) => join(source, entry));
  const surroundings = ['--types', types, '--lib', lib, '--rootDir', join(source, 'src'), '--outDir', outDir];
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', ...files, ...options, ...surroundings], {
    stdio: 'inherit',
  });
}

/** The compiler rewrites the names of our files in the code, but not in the types; and no names of our packages. */
function withOurFiles(file: string): string {
  const text = readFileSync(file, 'utf8').replaceAll(/(from '\.{1,2}\/[\w/-]+)\.ts'/g, "$1.js'");
  return own.reduce((changed, each) => {
    const of = each.slice(OURS.length);
    const path = join(dist, of, entryOf(of, '.js').replace('./dist/', ''));
    const specifier = relative(dirname(file), path)
      .replaceAll('\\', '/')
      .replace(/^(?!\.)/, './');
    return changed.replaceAll(`from '${each}'`, `from '${specifier}'`);
  }, text);
}
