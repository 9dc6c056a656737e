/**
 * Builds the npm package: `npx node scripts/build-package.ts FOLDER`. Our files are compiled to JavaScript, because Node
 * strips no types in installed packages, and the libraries of packages/ are bundled. The console is built before.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { buildConsole } from '#cli/services/build-console.ts';

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** What users need of the repository. */
const FOLDERS =
  /^(?:activities|api|bin|cli|config|docker|domain|examples\/rehearsal|features|policy|store|temporal|workers|workflows)\//;
const FILES = /^(?:config\.ts|README\.md|LICENSE|CHANGELOG\.md|tempoclaw\.example\.yaml)$/;
const TESTS = /(?:^|\/)test\/|^packages\/[^/]+\/examples?\//;
/** Imports of our own files, and addresses of them, by names that end with `.ts`. */
const OWN_NAMES = /(['"`])((?:\.{1,2}\/|#)[^'"`\n]*)\.ts\1/g;
/** Node that strips the types of users' tools. */
const ENGINE = '>=22.18';

const folder = resolve(process.argv[2] ?? 'dist/package');
rmSync(folder, { recursive: true, force: true });
const built = await buildConsole();
if (!existsSync('console/dist/index.html')) throw new Error(`the console is ${built}`);

const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n');
for (const file of tracked.filter((name) => FOLDERS.test(name) || FILES.test(name))) compile(file, file);
cpSync('console/dist', join(folder, 'console/dist'), { recursive: true });

const root = readManifest('.');
const libraries = readdirSync('packages').map((name) => ({
  name,
  manifest: readManifest(`packages/${name}`),
}));
for (const { name, manifest } of libraries) {
  const target = join('node_modules', manifest.name);
  for (const file of tracked.filter((one) => one.startsWith(`packages/${name}/`)))
    compile(file, join(target, file.slice(`packages/${name}/`.length)));
  const { devDependencies: _dev, scripts: _scripts, ...kept } = manifest;
  writeManifest(target, { ...kept, exports: compiled(manifest.exports) });
}
declareTypes();
writeManifest('.', publishedManifest());

/** Copies a file, without its types. */
function compile(file: string, target: string): void {
  if (TESTS.test(file) || !existsSync(file)) return;
  const to = join(folder, target.replace(/\.ts$/, '.js'));
  mkdirSync(dirname(to), { recursive: true });
  if (!/\.[jt]s$/.test(file)) return cpSync(file, to);
  const source = readFileSync(file, 'utf8');
  const code = file.endsWith('.ts') ? stripTypeScriptTypes(source, { mode: 'strip' }) : source;
  const mode = file.startsWith('bin/') ? 0o755 : 0o644;
  writeFileSync(to, code.replaceAll(OWN_NAMES, '$1$2.js$1').replaceAll(/[ \t]+$/gm, ''), { mode });
}

function readManifest(place: string): Manifest {
  return JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as Manifest;
}

function writeManifest(place: string, manifest: object): void {
  writeFileSync(join(folder, place, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

function compiled(entries: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(entries).map(([name, path]) => [name, path.replace(/\.ts$/, '.js')]),
  );
}

/** The types of what users write tools with. */
function declareTypes(): void {
  const sdk = 'features/code-tools/sdk.ts';
  const options = ['--declaration', '--emitDeclarationOnly', '--outDir', join(folder, 'types')];
  const how = ['--module', 'nodenext', '--target', 'es2024', '--skipLibCheck', '--ignoreConfig'];
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', sdk, ...options, ...how]);
}

function publishedManifest(): object {
  const { name, version, description, license, type, bin, imports, exports } = root;
  const own = libraries.map(({ manifest }) => manifest.name);
  const all = [root, ...libraries.map(({ manifest }) => manifest)];
  const dependencies = Object.assign({}, ...all.map((one) => one.dependencies ?? {}));
  const entry = compiled(exports)['.'];
  return {
    name,
    version,
    description,
    license,
    type,
    engines: { node: ENGINE },
    bin,
    imports: compiled(imports as Readonly<Record<string, string>>),
    exports: { '.': { types: './types/sdk.d.ts', default: entry } },
    dependencies: Object.fromEntries(Object.entries(dependencies).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    bundleDependencies: own,
  };
}
