/** The files of a folder that have code as their default export: tools in `tools/`, hooks in `hooks/`. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const CODE_FILE = /^([a-z][a-z0-9_]*)\.(?:ts|mts|js|mjs)$/;
/** What may stand beside them: their tests, and modules that several of them share. */
const BESIDE = /^_|\.test\.|\.d\.ts$/;

export interface LoadedCode<Item> {
  readonly items: readonly Item[];
  /** Texts for people; each begins with the file. */
  readonly problems: readonly string[];
}

/**
 * Loads the files of `kind`, a folder in `folder`, which may be missing. `itemsOf` returns what a file makes, or what is
 * wrong with it; its error is a problem of the file.
 */
export async function loadCode<Item>(
  folder: string,
  kind: 'tools' | 'hooks',
  itemsOf: (name: string, made: unknown, file: string) => Promise<readonly Item[] | string>,
): Promise<LoadedCode<Item>> {
  const items: Item[] = [];
  const problems: string[] = [];
  for (const file of codeFiles(folder, kind)) {
    const loaded = await loadFile(file, itemsOf);
    if (typeof loaded === 'string') problems.push(`${kind}/${basename(file)}: ${loaded}`);
    else items.push(...loaded);
  }
  return { items, problems };
}

function codeFiles(folder: string, kind: string): readonly string[] {
  const dir = join(resolve(folder), kind);
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.m?[jt]s$/.test(entry.name) && !BESIDE.test(entry.name))
    .map(({ name }) => join(dir, name))
    .toSorted();
}

async function loadFile<Item>(
  file: string,
  itemsOf: (name: string, made: unknown, file: string) => Promise<readonly Item[] | string>,
): Promise<readonly Item[] | string> {
  const [, name] = CODE_FILE.exec(basename(file)) ?? [];
  if (name === undefined)
    return 'its name must be a-z, 0-9 and _, a letter first: it is the name of what it makes';
  try {
    const { default: made } = (await import(pathToFileURL(file).href)) as { readonly default?: unknown };
    return await itemsOf(name, made, file);
  } catch (error) {
    return importProblem(error, file);
  }
}

/** The error with the line of the file that it is about. */
function importProblem(error: unknown, file: string): string {
  if (!(error instanceof Error)) return String(error);
  const after = error.stack?.split(`${file}:`)[1] ?? '';
  const line = /^\d+/.exec(after)?.[0];
  return line === undefined ? error.message : `${error.message} (line ${line})`;
}

/** Matches imports of files beside it. */
const IMPORTS = /(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g;

/**
 * Of the file, of the files that it imports by relative names, and of `source`: half of a SHA-256, in the form of a UUID.
 */
export function hashOf(file: string, source = ''): string {
  const texts = new Map<string, string>();
  const open = [file];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (texts.has(next) || !existsSync(next)) continue;
    const text = readFileSync(next, 'utf8');
    texts.set(next, text);
    for (const [, relative] of text.matchAll(IMPORTS)) open.push(join(dirname(next), relative ?? ''));
  }
  const hash = createHash('sha256').update(source);
  for (const [path, text] of [...texts].toSorted()) hash.update(`${basename(path)}\0${text}\0`);
  return hash.digest('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5');
}
