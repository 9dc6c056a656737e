/**
 * Commands that outlive the call and the worker. A command's folder contains all of its state, so any later worker on
 * this machine can continue with it: <dir>/<owner>/<group>/<id>/{meta.json, pid, in, out.N, exit}.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { feedInput } from './background-input.ts';
import { type LogPage, readLog } from './background-log.ts';
import { BACKGROUND_SCRIPT } from './background-script.ts';
import { findTree, GRACE_MS, hasMark, killTree, type Target } from '../kill-tree.ts';
import { marksOf } from '../marks.ts';
import { isAlive, processRow } from '../process-table.ts';
import { shellProgram } from '../shell.ts';

/** The owner of processes: a member of a group of an owner sees its own. */
export interface BackgroundOwner {
  readonly owner: string;
  readonly group: string;
  /** Absent: nobody in particular, who is a member too. */
  readonly member?: string | undefined;
}

export interface BackgroundProcess {
  readonly id: string;
  readonly pid: number;
  readonly command: string;
  readonly startedAt: string;
  readonly running: boolean;
  /** Null while it runs, and when it was killed before the exit code was written. */
  readonly exitCode: number | null;
}

export interface Watcher extends Pick<BackgroundProcess, 'id' | 'command'> {
  end(): Promise<void>;
}

export type Started =
  | { readonly ok: true; readonly id: string; readonly pid: number }
  | { readonly ok: false; readonly message: string };

/** Each function sees only the owner's processes; undefined when the process does not exist. */
export interface BackgroundCommands {
  start(
    owner: BackgroundOwner & { readonly idempotencyKey: string },
    request: {
      readonly command: string;
      /** The line that is run in place of the command, if any. */
      readonly line?: string;
      readonly cwd: string;
      readonly pwd: string;
      /** Time between SIGTERM and SIGKILL, when it needs more than usual. */
      readonly graceMs?: number;
      /** The workspace whose files may influence it: it is one of the watchers of that workspace. */
      readonly watches?: string | undefined;
    },
  ): Promise<Started>;
  /** Newest first. */
  list(owner: BackgroundOwner): Promise<readonly BackgroundProcess[]>;
  find(owner: BackgroundOwner, id: string): Promise<BackgroundProcess | undefined>;
  /** Output from a byte on (all output counts, including what is no longer kept); the newest when `from` is absent. */
  log(
    owner: BackgroundOwner,
    id: string,
    from: number | undefined,
    bytes: number,
  ): Promise<LogPage | undefined>;
  /** Running processes of all groups of an owner that watch this workspace. */
  watchersOf(owner: string, workspace: string): Promise<readonly Watcher[]>;
  /** Writes to its input, then closes it when `end` is set. False when it accepts no input (any more). */
  write(owner: BackgroundOwner, id: string, data: string, end: boolean): Promise<boolean | undefined>;
  /** Ends it and everything it started. False when it had already ended. */
  kill(owner: BackgroundOwner, id: string): Promise<boolean | undefined>;
  /** Ends all processes of a group, whichever member's, then its sandboxes; returns how many processes ran. */
  killGroup(owner: BackgroundOwner): Promise<number>;
  /** The same for a group that may never have had any, which costs one check. */
  killRemaining(owner: BackgroundOwner): Promise<number>;
  /** Ends those that this worker started; returns how many ran. */
  stopOwn(): Promise<number>;
}

export interface BackgroundOptions {
  /** Name that marks what is started here (marks.ts). */
  readonly name: string;
  /** A private folder on this machine. */
  readonly dir: string;
  /** Environment from commandEnvironment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly now: () => number;
  readonly graceMs?: number;
  /** Ends the sandboxes of a group. */
  readonly endBoxes?: (owner: BackgroundOwner) => Promise<void>;
}

/** Written before the command starts, so that no running command is unknown. */
interface Meta {
  readonly id: string;
  readonly command: string;
  readonly started_at: string;
  readonly grace_ms?: number;
  readonly watches?: string | undefined;
  readonly member?: string | undefined;
}

/** Greatest number of running commands of a group. */
const MAX_RUNNING = 10;
/** Greatest number of ended commands of a group whose output is kept. */
const MAX_ENDED = 20;
const ID = /^proc_[0-9a-f]{12}$/;

export function createBackgroundCommands(options: BackgroundOptions): BackgroundCommands {
  const { dir, environment, now } = options;
  const graceMs = options.graceMs ?? GRACE_MS;
  const { process: mark } = marksOf(options.name);

  const groupDir = ({ owner, group }: BackgroundOwner): string => join(dir, digest(owner), digest(group));
  const entryDir = (owner: BackgroundOwner, id: string): string | undefined =>
    ID.test(id) ? join(groupDir(owner), id) : undefined;

  const known = async (owner: BackgroundOwner, id: string): Promise<Known | undefined> => {
    const entry = entryDir(owner, id);
    const found = entry === undefined ? undefined : await readEntry(entry, mark);
    return found?.member === owner.member ? found : undefined;
  };

  async function killGroup(owner: BackgroundOwner): Promise<number> {
    const ended = await endAll(await listed(groupDir(owner), mark), graceMs);
    await options.endBoxes?.(owner);
    return ended;
  }

  /** Folders of commands that were started here and not removed. */
  const own = new Set<string>();

  return {
    async start(owner, request) {
      const folder = groupDir(owner);
      const others = await listed(folder, mark);
      const running = others.filter(({ shown }) => shown.running);
      if (running.length >= MAX_RUNNING) return { ok: false, message: tooMany(running, owner) };
      for (const { folder: old } of others.filter(({ shown }) => !shown.running).slice(MAX_ENDED)) {
        await rm(old, { recursive: true, force: true });
        own.delete(old);
      }
      const id = `proc_${digest(`${owner.group}\0${owner.idempotencyKey}`).slice(0, 12)}`;
      const entry = join(folder, id);
      await mkdir(entry, { recursive: true, mode: 0o700 });
      const started_at = new Date(now()).toISOString();
      const grace = request.graceMs === undefined ? {} : { grace_ms: request.graceMs };
      const { command, watches } = request;
      const meta: Meta = { id, command, started_at, ...grace, watches, member: owner.member };
      own.add(entry);
      await writeDone(join(entry, 'meta.json'), JSON.stringify(meta));
      const env = { ...environment, PWD: request.pwd, [mark]: id };
      const line = request.line ?? request.command;
      const child = spawn('/bin/sh', ['-c', BACKGROUND_SCRIPT, id, entry, shellProgram(), line], {
        cwd: request.cwd,
        env,
        stdio: 'ignore',
        detached: true,
      });
      const failed = await spawned(child);
      const { pid } = child;
      if (failed !== undefined || pid === undefined) {
        await rm(entry, { recursive: true, force: true });
        return { ok: false, message: `the command could not be started: ${failed ?? 'no process'}` };
      }
      child.unref();
      // The script writes it too, in case this worker ends here.
      await writeDone(join(entry, 'pid'), String(pid));
      return { ok: true, id, pid };
    },

    list: async (owner) =>
      (await listed(groupDir(owner), mark))
        .filter(({ member }) => member === owner.member)
        .map(({ shown }) => shown),
    find: async (owner, id) => (await known(owner, id))?.shown,

    async log(owner, id, from, bytes) {
      const entry = await known(owner, id);
      return entry && readLog(entry.folder, from, bytes);
    },

    watchersOf: (owner, workspace) => watchersIn(join(dir, digest(owner)), workspace, mark, graceMs),

    async write(owner, id, data, end) {
      const entry = await known(owner, id);
      return entry && feedInput(entry.folder, entry.shown, data, end);
    },

    async kill(owner, id) {
      const entry = await known(owner, id);
      if (entry === undefined) return undefined;
      // Also when the command itself has ended, because what it started may continue.
      const remaining = await findTree(entry.target);
      if (remaining.length === 0) return false;
      await killTree(entry.target, Math.max(graceMs, entry.graceMs));
      return true;
    },

    killGroup,
    killRemaining: async (owner) => ((await namesIn(groupDir(owner))).length > 0 ? killGroup(owner) : 0),

    async stopOwn() {
      const entries = await Promise.all(Array.from(own, (entry) => readEntry(entry, mark)));
      return endAll(
        entries.filter((entry) => entry !== undefined),
        graceMs,
      );
    },
  };
}

/** Ends every background command in a folder, whichever worker started it; returns how many ran. */
export async function endBackgroundCommands(dir: string, name: string): Promise<number> {
  const { process: mark } = marksOf(name);
  let count = 0;
  for (const owner of await namesIn(dir))
    for (const group of await namesIn(join(dir, owner)))
      count += await endAll(await listed(join(dir, owner, group), mark), GRACE_MS);
  return count;
}

/** Running processes of all groups in an owner's folder that watch the workspace. */
async function watchersIn(
  folder: string,
  workspace: string,
  mark: string,
  graceMs: number,
): Promise<readonly Watcher[]> {
  const groups = await namesIn(folder);
  const all = await Promise.all(groups.map((group) => listed(join(folder, group), mark)));
  return all
    .flat()
    .filter(({ watches, shown }) => shown.running && watches === workspace)
    .map((entry) => ({
      id: entry.shown.id,
      command: entry.shown.command,
      end: async () => void (await endAll([entry], graceMs)),
    }));
}

/** Includes commands that have ended while what they started still runs. */
async function endAll(entries: readonly Known[], graceMs: number): Promise<number> {
  const ended = await Promise.all(
    entries.map(async ({ target, graceMs: own }) => {
      if ((await findTree(target)).length === 0) return false;
      await killTree(target, Math.max(graceMs, own));
      return true;
    }),
  );
  return ended.filter(Boolean).length;
}

/** Newest first. */
async function listed(folder: string, variable: string): Promise<Known[]> {
  const names = await namesIn(folder);
  const entries = await Promise.all(names.map((name) => readEntry(join(folder, name), variable)));
  return entries
    .filter((entry) => entry !== undefined)
    .sort((a, b) => (a.shown.startedAt < b.shown.startedAt ? 1 : -1));
}

interface Known {
  readonly folder: string;
  readonly shown: BackgroundProcess;
  readonly target: Target;
  /** The least time that it needs between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  readonly watches: string | undefined;
  readonly member: string | undefined;
}

function tooMany(running: readonly Known[], { member }: BackgroundOwner): string {
  const own = running.filter((one) => one.member === member).map(({ shown }) => shown.id);
  const remedy = own.length === 0 ? 'they are other people’s' : `kill one first: ${own.join(', ')}`;
  return `${running.length} background processes run in this session, which is the most; ${remedy}`;
}

async function readEntry(folder: string, variable: string): Promise<Known | undefined> {
  const text = await readOrNothing(join(folder, 'meta.json'));
  if (text === undefined) return undefined;
  const meta = JSON.parse(text) as Meta;
  const exit = await readOrNothing(join(folder, 'exit'));
  const pid = Number((await readOrNothing(join(folder, 'pid')))?.trim() ?? 0);
  const mark = `${variable}=${meta.id}`;
  const row = processRow(pid);
  const same = row !== undefined && isAlive(row) && hasMark(pid, mark);
  return {
    folder,
    // A pid that belongs to another process by now must not be signalled; the mark still finds our processes.
    target: { pid: same ? pid : 0, mark },
    graceMs: meta.grace_ms ?? 0,
    watches: meta.watches,
    member: meta.member,
    shown: {
      id: meta.id,
      pid,
      command: meta.command,
      startedAt: meta.started_at,
      running: exit === undefined && same,
      exitCode: exit === undefined ? null : Number(exit.trim()),
    },
  };
}

async function writeDone(path: string, text: string): Promise<void> {
  await writeFile(`${path}.ours`, text, { mode: 0o600 });
  await rename(`${path}.ours`, path);
}

function spawned(child: ReturnType<typeof spawn>): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.once('spawn', () => resolve(undefined));
    child.once('error', (error) => resolve(error.message));
  });
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function readOrNothing(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A folder name for any owner or group. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}
