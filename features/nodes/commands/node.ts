/**
 * Implements `tempoclaw node`: this machine as a node of a TempoClaw elsewhere. It connects outwards, and does only
 * what it was started for.
 */
import type { Command } from 'commander';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { childEnvironment } from '#config';
import { clientEnvironment } from '#config/client-environment.ts';
import { readOfficialSettings } from '#config/temporal-connection.ts';
import { CliError, usageError } from '#cli/cli-error.ts';
import { ApiError, createClient } from '#cli/client.ts';
import { ownCapabilities } from '../program/capabilities.ts';
import {
  makeNodeToken,
  type NodeCredential,
  readCredential,
  writeCredential,
} from '../program/credential.ts';
import { openJournal } from '../program/journal.ts';
import { stayConnected } from '../program/node-connection.ts';
import { createOutput } from '#cli/output.ts';
import { releaseLock, takeLock } from '@tempoclaw/dev-services/processes';
import { findTarget } from '#cli/target.ts';
import { NODE_JOIN } from '../resource.ts';
import manifest from '../../../package.json' with { type: 'json' };

interface NodeOptions {
  readonly url?: string;
  readonly stateDir?: string;
  readonly code?: string;
  readonly folder?: string;
  readonly overTemporal?: boolean;
  readonly allowRun?: readonly string[];
}

/** Variables of this process's environment that commands there get. */
const PASSED = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_.*|TZ|TMPDIR|TERM)$/;

export function register(command: Command): void {
  command
    .option('--code <code>', 'the pairing code, the first time; with --url unless it has joined there before')
    .option('--folder <folder>', 'files below it may be read, and commands run there')
    .option(
      '--allow-run <pattern>',
      'a command that may be run, word for word: "git status", "npm run *", "ls **"; may be repeated',
      (pattern: string, before: readonly string[] | undefined) => [...(before ?? []), pattern],
    )
    .option(
      '--over-temporal',
      'take work from a task queue of Temporal (TEMPORAL_ADDRESS and its like), not by WebSocket',
    )
    .option('--state-dir <folder>', 'where its token and its journal are (default: ~/.tempoclaw-node)')
    .action(node);
}

async function node(options: NodeOptions): Promise<void> {
  const { folder, allowRun = [] } = options;
  const dir = resolve(options.stateDir ?? join(homedir(), '.tempoclaw-node'));
  if (allowRun.some((pattern) => pattern.trim() === '')) throw usageError('--allow-run must name a command');
  if (folder !== undefined && !statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw usageError(`--folder: ${folder} is no folder; make it, or name another`);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const lock = { folder: dir, name: 'up' };
  if (!(await takeLock(lock)))
    throw new CliError(`Another node runs with ${dir}.`, {
      remedy: 'Give this one a --state-dir of its own.',
    });
  const out = createOutput(process.stdout);
  try {
    const credential = await credentialOf(dir, options);
    const stop = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
    const environment = Object.fromEntries(
      Object.entries(childEnvironment({})).filter(([name]) => PASSED.test(name)),
    );
    const parts = {
      ...credential,
      version: manifest.version,
      journal: await openJournal(join(dir, 'journal.jsonl')),
      capabilities: ownCapabilities({
        folder: folder && resolve(folder),
        stateDir: dir,
        allowRun,
        environment,
      }),
      say: out.line,
      signal: stop.signal,
    };
    if (!options.overTemporal) return await stayConnected(parts);
    const temporal = readOfficialSettings(childEnvironment({}));
    if (typeof temporal === 'string') throw new CliError(temporal);
    const { workOnQueue } = await import('../program/queue-worker.ts');
    await workOnQueue({ ...parts, temporal });
  } finally {
    releaseLock(lock);
  }
}

/** An interrupted join is repeated with the same token, for which the code is used up. */
async function credentialOf(dir: string, { url: wished, code }: NodeOptions): Promise<NodeCredential> {
  const file = join(dir, 'credential.json');
  if (code === undefined) {
    const known = readCredential(file);
    if (known && (wished === undefined || wished.replace(/\/+$/, '') === known.url)) return known;
    throw usageError(
      'This machine has not joined there: give --url and --code.',
      'The code is made by `tempoclaw nodes invite NAME`.',
    );
  }
  const { url } = findTarget(
    { url: wished ?? readCredential(file)?.url },
    clientEnvironment(),
    process.cwd(),
  );
  const joining = join(dir, 'joining.json');
  const started = readCredential(joining);
  const token = started?.url === url && started.code === code ? started.token : makeNodeToken();
  writeCredential(joining, { url, token, code });
  const client = createClient({ url, key: undefined, socket: undefined, source: '--url', run: undefined });
  try {
    const { name } = await client.post<{ name: string }>(NODE_JOIN.path, { code, token });
    createOutput(process.stdout).line(`joined as ${name}`);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
    throw new CliError(error.message, {
      code: error.code,
      remedy: 'Make a new one there: `tempoclaw nodes invite NAME`.',
    });
  }
  writeCredential(file, { url, token });
  rmSync(joining);
  return { url, token };
}
