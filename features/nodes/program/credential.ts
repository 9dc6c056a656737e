/** What a node knows of its server, in a file that only its user can read. */
import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError } from '#cli/cli-error.ts';

export interface NodeCredential {
  readonly url: string;
  readonly token: string;
  /** Present while it joins. */
  readonly code?: string;
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 256 random bits in letters and digits. */
export function makeNodeToken(): string {
  return `tcn_${Array.from({ length: 43 }, () => BASE62[randomInt(BASE62.length)]).join('')}`;
}

/** Returns undefined when there is none. */
export function readCredential(file: string): NodeCredential | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as NodeCredential;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CliError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      remedy: 'Delete it, and join again with a new code.',
    });
  }
}

export function writeCredential(file: string, credential: NodeCredential): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, `${JSON.stringify(credential)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
