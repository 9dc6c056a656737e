/**
 * Finds which API a command calls, and with which key: from flags, then the environment, then `.tempoclaw/run.json`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { ClientEnvironment } from '#config/client-environment.ts';
import { CliError, usageError } from './cli-error.ts';
import type { RunInfo } from './run-state.ts';

export interface Target {
  /** The URL without a slash at its end. */
  readonly url: string;
  readonly key: string | undefined;
  /** Where the API of a run.json is reached, which proves its identity. */
  readonly socket: string | undefined;
  /** Where the address comes from, for messages. */
  readonly source: string;
  readonly run: RunFile | undefined;
}

/** What `tempoclaw up` writes for programs. Every part may be missing, because a file cannot be trusted. */
export type RunFile = Partial<RunInfo> & { readonly path: string };

const STATE_DIR = '.tempoclaw';

/**
 * The local key is only ever sent to the API that the same run.json names, over its socket. Throws a CliError when no
 * address is known.
 */
export function findTarget(options: Partial<ClientEnvironment>, env: ClientEnvironment, cwd: string): Target {
  const stateDir = options.stateDir ?? env.stateDir;
  const run = findRunFile(stateDir, cwd);
  // A folder that a flag names overrides an address that the environment names.
  const around = options.stateDir === undefined ? env : { ...env, url: undefined, apiKey: undefined };
  const wished = options.url ?? around.url;
  const key = options.apiKey ?? around.apiKey;
  if (wished !== undefined) {
    const source = options.url === undefined ? 'TEMPOCLAW_URL' : '--url';
    const url = readUrl(wished, source);
    const own = run?.api && readUrl(run.api, run.path) === url ? run : undefined;
    return { url, key: key ?? (own && readKey(own)), socket: socketOf(own), source, run: own };
  }
  if (!run?.api) throw notKnown(stateDir, cwd);
  const url = readUrl(run.api, run.path);
  return { url, key: key ?? readKey(run), socket: socketOf(run), source: run.path, run };
}

function socketOf(run: RunFile | undefined): string | undefined {
  return run?.api_socket ?? undefined;
}

function notKnown(stateDir: string | undefined, cwd: string): CliError {
  const where =
    stateDir === undefined
      ? `No TempoClaw is known here: no ${STATE_DIR}/run.json in ${cwd} or the folders above it.`
      : `No TempoClaw is known here: no run.json in the state folder ${resolve(cwd, stateDir)}.`;
  return new CliError(where, {
    code: 'NotRunning',
    remedy: 'Start one with `npm start`, or name one with --url (or TEMPOCLAW_URL).',
  });
}

/** The nearest run.json from `cwd` upwards, or the one in the state folder that the environment names. */
export function findRunFile(stateDir: string | undefined, cwd: string): RunFile | undefined {
  if (stateDir !== undefined) return readRunFile(join(resolve(cwd, stateDir), 'run.json'));
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const found = readRunFile(join(folder, STATE_DIR, 'run.json'));
    if (found !== undefined || dirname(folder) === folder) return found;
  }
}

/** Returns undefined when there is none. Throws a CliError when it is there and is not JSON. */
export function readRunFile(path: string): RunFile | undefined {
  if (!existsSync(path)) return undefined;
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new CliError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      remedy: 'Delete it and run `npm start` again.',
    });
  }
  const fields = typeof content === 'object' && content !== null ? (content as Partial<RunInfo>) : {};
  return { ...fields, path };
}

function readKey(run: RunFile): string | undefined {
  const { api_key_file: file } = run;
  // Over a port alone, the API cannot prove to be ours.
  if (file === undefined || socketOf(run) === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch (error) {
    throw new CliError(
      `The API key's file ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      { remedy: 'Give a key with TEMPOCLAW_API_KEY or --api-key.', code: 'Unauthorized' },
    );
  }
}

function readUrl(value: string, where: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw usageError(
      `${where} is not an http or https address: ${value}`,
      'Write it like http://127.0.0.1:7400',
    );
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}
