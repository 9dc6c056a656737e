/** Reads what a command needs besides its arguments: an object in YAML or JSON, or text, from a path or a pipe. */
import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { CliError, usageError } from './cli-error.ts';

/** `-` is the pipe. `example` is shown when the file contains something else. */
export function readObjectFile(path: string, example: string): Record<string, unknown> {
  // JSON is valid YAML, so one reader accepts both and names line and column.
  const document = parseDocument(readTextFile(path), { prettyErrors: true });
  const [error] = document.errors;
  if (error) throw usageError(`${path}: ${error.message}`);
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageError(`${path} must hold ${example}`);
  return value as Record<string, unknown>;
}

export function readTextFile(path: string): string {
  return readBytes(path).toString('utf8');
}

export function readBytes(path: string): Buffer {
  try {
    return readFileSync(path === '-' ? 0 : path);
  } catch (error) {
    const what = path === '-' ? 'The pipe' : path;
    throw new CliError(`${what} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** All of standard input; throws a usage error with `tooLong` when it has more than `max` characters. */
export async function readPipe(max: number, tooLong: string): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk as string;
    if (text.length > max) throw usageError(tooLong);
  }
  return text;
}
