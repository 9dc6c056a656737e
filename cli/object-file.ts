/** Files that a command takes: one object in YAML or JSON, from a path or a pipe. */
import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { CliError, usageError } from './cli-error.ts';

/** `-` is the pipe. `example` is shown when the file holds something else. */
export function readObjectFile(path: string, example: string): Record<string, unknown> {
  // YAML holds JSON, so one reader takes both and names line and column.
  const document = parseDocument(readTextFile(path), { prettyErrors: true });
  const [error] = document.errors;
  if (error) throw usageError(`${path}: ${error.message}`);
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageError(`${path} must hold ${example}`);
  return value as Record<string, unknown>;
}

export function readTextFile(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (error) {
    const what = path === '-' ? 'The pipe' : path;
    throw new CliError(`${what} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
