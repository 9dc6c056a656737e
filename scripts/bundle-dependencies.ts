/**
 * Bundles the libraries that the npm package uses into its folder `vendor/`, one file for each name that is imported.
 * So the package installs few others, and starts from fewer files.
 */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OutputChunk, rolldown } from 'rolldown';

/** The main file of css-tree reads data beside it. */
const ALIAS = { 'css-tree': 'css-tree/dist/csstree.esm' };
/** Native code that the libraries try to load and do without. */
const LEFT_OUT = ['cpu-features', 'pg-native', 'bufferutil', 'utf-8-validate', 'canvas'];
/** A package's folder in the path of a module. */
const PACKAGE = /^.*\/node_modules\/(?!\.)(?:@[^/]+\/)?[^/]+/;

/** The name of a library's file in `vendor/`, without its ending. */
export function vendorName(specifier: string): string {
  return specifier.replace(/^@/, '').replaceAll('/', '__').replace(/\.js$/, '');
}

export interface Library {
  readonly name: string;
  readonly version: string;
  /** An expression of SPDX. */
  readonly license?: string;
}

/** `isExternal`: names that are installed beside the package, not bundled. Resolves with what the bundles contain. */
export async function bundleDependencies(
  specifiers: readonly string[],
  folder: string,
  isExternal: (specifier: string) => boolean,
): Promise<readonly Library[]> {
  // Below node_modules, so that names are resolved as in our own files.
  const entries = mkdtempSync(join('node_modules', '.vendor-'));
  try {
    const input: Record<string, string> = {};
    for (const specifier of specifiers) {
      const file = join(entries, `${vendorName(specifier)}.mjs`);
      writeFileSync(file, await entryOf(specifier));
      input[vendorName(specifier)] = file;
    }
    const build = await rolldown({
      input,
      platform: 'node',
      external: (name) => isExternal(name) || LEFT_OUT.includes(name),
      resolve: { alias: ALIAS },
      transform: { define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' } },
      logLevel: 'warn',
    });
    const { output } = await build.write({
      dir: folder,
      format: 'esm',
      // Names stay, for stack traces.
      minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
      chunkFileNames: 'chunks/[name]-[hash].js',
    });
    const chunks = output.filter((one): one is OutputChunk => one.type === 'chunk');
    return writeLicenses(
      chunks.flatMap(({ moduleIds }) => moduleIds),
      folder,
    );
  } finally {
    rmSync(entries, { recursive: true, force: true });
  }
}

/** Exports by name what the library exports, because a bundle of CommonJS has no names of its own. */
async function entryOf(specifier: string): Promise<string> {
  const library = (await import(specifier)) as Readonly<Record<string, unknown>>;
  const names = Object.keys(library).filter((name) => /^(?!__esModule$)[\w$]+$/.test(name));
  return `export { ${names.join(', ')} } from '${specifier}';\n`;
}

/** Their licenses ask that a copy of them contains their text. */
function writeLicenses(modules: readonly string[], folder: string): readonly Library[] {
  const paths = [...new Set(modules.flatMap((path) => PACKAGE.exec(path)?.[0] ?? []))];
  const libraries = paths.map((path) => ({ path, ...readLibrary(path) }));
  const texts = libraries.map(({ path, name, version, license }) => {
    const [file] = globSync('{LICEN[CS]E,license,COPYING}*', { cwd: path });
    return `${name} ${version} (${license})\n\n${file === undefined ? '' : readFileSync(join(path, file), 'utf8')}`;
  });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'LICENSES.txt'), `${texts.toSorted().join(`\n${'-'.repeat(80)}\n\n`)}\n`);
  return libraries;
}

function readLibrary(path: string): Library {
  return JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Library;
}
