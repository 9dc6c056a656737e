/** Reads files of a folder that another system wrote. Nothing outside the folder is read, and each file has a limit. */
import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { parseDocument } from 'yaml';
import { CliError } from '#cli/cli-error.ts';
import { DOCUMENT_LIMITS } from '#domain/files/document.ts';
import { type Fields, isRecord } from '#domain/outside-value.ts';

const MAX_ENTRIES = 1_000;
/** Bytes of a file of settings or rows. */
const MAX_DATA = 16_000_000;
const MAX_LINES = 20_000;

export interface SourceFolder {
  /** Names of the folders below a folder, sorted; none if it is missing. */
  folders(path: string): readonly string[];
  files(path: string): readonly string[];
  /** Returns undefined for a missing file. Throws a CliError for a link out of the folder, or a file that is too large. */
  text(path: string): string | undefined;
  /** The same for an object in JSON or YAML. */
  object(path: string): Fields | undefined;
  /** The objects of a file with one in each line; none if it is missing. */
  lines(path: string): readonly Fields[];
  /** The absolute path, for readers of whole folders. */
  at(path: string): string;
}

export function openFolder(folder: string): SourceFolder {
  const root = realPath(folder);
  if (root === undefined || !lstatSync(root).isDirectory())
    throw new CliError(`${folder} is no folder that can be read.`, {
      remedy: 'Name the folder that holds config.json; unpack an archive first.',
    });
  const find = (path: string): string | undefined => {
    const real = realPath(join(root, path));
    if (real === undefined || real === root || real.startsWith(root + sep)) return real;
    throw new CliError(`${path} is a link out of the folder; put the file itself there.`);
  };
  const read = (path: string, max: number): string | undefined => {
    const real = find(path);
    if (real === undefined) return undefined;
    const stat = lstatSync(real);
    if (!stat.isFile()) return undefined;
    if (stat.size > max) throw new CliError(`${path} has more than ${max} bytes.`);
    return readFileSync(real, 'utf8');
  };
  const names = (path: string, isFolder: boolean): readonly string[] => {
    const real = find(path);
    if (real === undefined || !lstatSync(real).isDirectory()) return [];
    const entries = readdirSync(real, { withFileTypes: true })
      .filter((entry) => !entry.name.startsWith('.') && (isFolder ? entry.isDirectory() : entry.isFile()))
      .map(({ name }) => name);
    if (entries.length > MAX_ENTRIES) throw new CliError(`${path} has more than ${MAX_ENTRIES} entries.`);
    return entries.toSorted();
  };
  return {
    folders: (path) => names(path, true),
    files: (path) => names(path, false),
    text: (path) => read(path, DOCUMENT_LIMITS.bytes),
    object(path) {
      const text = read(path, MAX_DATA);
      return text === undefined ? undefined : parseObject(text, path);
    },
    lines(path) {
      const lines = (read(path, MAX_DATA) ?? '').split('\n');
      if (lines.length > MAX_LINES) throw new CliError(`${path} has more than ${MAX_LINES} lines.`);
      return lines.flatMap((line, at) =>
        line.trim() === '' ? [] : [parseObject(line, `${path}:${at + 1}`)],
      );
    },
    at: (path) => find(path) ?? join(root, path),
  };
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new CliError(`${path} cannot be read: ${code}.`);
  }
}

/** JSON is valid YAML. */
function parseObject(text: string, place: string): Fields {
  const document = parseDocument(text, { prettyErrors: true, logLevel: 'silent' });
  const [error] = document.errors;
  if (error) throw new CliError(`${place} cannot be read: ${error.message.split('\n', 1)[0]}`);
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  if (value === null) return {};
  if (!isRecord(value)) throw new CliError(`${place} must hold names and values.`);
  return value;
}
