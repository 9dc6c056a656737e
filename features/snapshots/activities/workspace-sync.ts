/**
 * Workspaces that follow the work (VF-6). One worker at a time holds a workspace. Its files are copied to that worker
 * before they are used, and into the store before the result of a change is recorded. Nothing about a lease is stored
 * on this machine. What a worker knows of a folder is in its memory, and is valid as long as no other worker has had
 * the workspace since. Otherwise, the whole folder is compared with the revision.
 */
import { realpath, rm } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { oneAtATime } from '#domain/async/one-at-a-time.ts';
import { withTimeout } from '#domain/async/with-timeout.ts';
import { Failure } from '#domain/errors.ts';
import type { Pool } from '#store/postgres/pool.ts';
import {
  releaseWorkspace,
  RENEW_MS,
  renewWorkspace,
  saveWorkspace,
  takeWorkspace,
  workspaceHolder,
  type WorkspaceKey,
  type WorkspaceLease,
} from '../store.ts';
import { type ChangeJournal, fileDigest } from '#activities/workspace/change-journal.ts';
import { errnoOf, FileProblem, fileProblem } from '#activities/workspace/file-problem.ts';
import type { FileScope, WorkspaceUse } from '#activities/workspace/contract.ts';
import { openFolder } from '#activities/workspace/open-folder.ts';
import { makeWorkspace } from '#activities/workspace/workspace-folder.ts';
import type { ObjectStore } from '#features/artifacts/index.ts';
import { restoreWorkspace } from './restore.ts';
import { scanWorkspace, SNAPSHOT_LIMITS, type SnapshotLimits } from './scan.ts';
import { type Changes, createObjects, digestOf, type FolderEntry, readRoot, writeRoot } from './tree.ts';

export interface WorkspaceSync {
  /** Whether it is a workspace; other folders are this machine's own. */
  follows(folder: string): boolean;
  /** Waits for at most this long. @throws FileProblem `Timeout`, with who has it */
  enter(scope: Pick<FileScope, 'workspace' | 'signal'>, patienceMs: number): Promise<WorkspaceUse>;
}

export interface FollowedOptions {
  readonly pool: Pool;
  readonly store: ObjectStore;
  /** The folders are workspaceFolder(root, tenant, name). */
  readonly root: string;
  /** The name of this worker, for people. */
  readonly holder: string;
  readonly limits?: SnapshotLimits;
}

interface Local extends WorkspaceKey {
  readonly folder: string;
  /** Calls that wait to enter; when there are none, the wait for another worker is given up. */
  waiting: number;
  active: number;
  /** Operations on lease and revision, one after the other. */
  readonly inTurn: ReturnType<typeof oneAtATime>;
  lease?: WorkspaceLease;
  timer?: NodeJS.Timeout;
  /** True if another worker has it by now. */
  isLost: boolean;
  /**
   * The fence under which the folder was last equal to the revision `root`; otherwise, all three are undefined or old.
   */
  goodAt?: number;
  root?: string;
  tree?: FolderEntry;
  changes: Changes;
  path: string;
}

/** Entries of the journal that a revision has. After this many later changes, a repeat no longer finds its own. */
const JOURNAL = 200;
const JOURNAL_DIGEST = 24;
/** Files and folders of all workspaces whose state is kept in memory, at about 500 bytes each. */
const REMEMBERED = 200_000;
const LONGEST_WAIT_MS = 400;

const NOT_BROUGHT = 'this worker could not bring the workspace here:';

export function createWorkspaceSync(options: FollowedOptions): WorkspaceSync {
  const { root } = options;
  const known = new Map<string, Local>();

  function localOf(folder: string): Local {
    const [tenant = '', ...name] = relative(root, folder).split(sep);
    const local = known.get(folder) ?? {
      tenant,
      name: name.join('/'),
      folder,
      waiting: 0,
      active: 0,
      inTurn: oneAtATime(),
      isLost: false,
      changes: new Map(),
      path: folder,
    };
    known.delete(folder);
    known.set(folder, local);
    return local;
  }

  return {
    follows: (folder) => folder.startsWith(root + sep),

    async enter(scope, patienceMs) {
      const local = localOf(scope.workspace);
      local.waiting += 1;
      const opened = local.inTurn(() => open(options, local)).then(() => true);
      const stopped = aborted(scope.signal);
      const isOpen = await withTimeout(patienceMs, Promise.race([opened, stopped.promise])).finally(() => {
        stopped.end();
        local.waiting -= 1;
      });
      const written = new Set<string>();
      const leaving = (): Promise<void> =>
        local.inTurn(() => leave(options, local, written)).finally(() => bound(known));
      if (!isOpen) {
        opened.then(leaving).catch(() => undefined);
        scope.signal?.throwIfAborted();
        throw inUse(
          local,
          (await workspaceHolder(options.pool, local)) ?? 'this worker, which still brings it here',
        );
      }
      return {
        path: local.path,
        wrote(path) {
          const inside = relative(local.path, path);
          if (inside !== '..' && !inside.startsWith('../')) written.add(inside);
        },
        journal: journalOf(local),
        leave: leaving,
      };
    },
  };
}

type Parts = Omit<FollowedOptions, 'root'>;

/** Takes the workspace if this worker does not have it, and updates the folder. */
async function open(parts: Parts, local: Local): Promise<void> {
  if (local.lease && local.isLost)
    throw inUse(local, 'another worker, since this one was slow; other calls of this one still end');
  if (!local.lease) await hold(parts, local);
  local.active += 1;
}

/** Renews the lease while the files are brought, too: another worker would take it, and the call's changes be lost. */
async function hold(parts: Parts, local: Local): Promise<void> {
  for (;;) {
    const lease = await take(parts, local);
    local.timer = renewing(parts, local, lease);
    try {
      await bring(parts, local, lease);
      if (await renewWorkspace(parts.pool, local, lease.fence)) {
        local.lease = lease;
        local.isLost = false;
        return;
      }
      // This process was slow. The files here may be old, so they are brought again.
      forget(local);
    } catch (error) {
      forget(local);
      delete local.goodAt;
      await releaseWorkspace(parts.pool, local, lease.fence).catch(runsOut);
      throw errnoOf(error) === undefined ? error : fileProblem(error, NOT_BROUGHT, local.name);
    }
  }
}

function renewing({ pool }: Parts, local: Local, lease: WorkspaceLease): NodeJS.Timeout {
  return setInterval(() => {
    renewWorkspace(pool, local, lease.fence).then((held) => {
      local.isLost ||= !held && local.lease === lease;
      return local.isLost;
    }, runsOut);
  }, RENEW_MS).unref();
}

async function take({ pool, holder }: Parts, local: Local): Promise<WorkspaceLease> {
  for (let wait = 20; local.waiting > 0; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    const lease = await takeWorkspace(pool, local, holder);
    if (lease) return lease;
    await sleep(wait);
  }
  throw inUse(local, 'another worker');
}

async function bring(parts: Parts, local: Local, lease: WorkspaceLease): Promise<void> {
  const isGood = local.goodAt === lease.fence - 1 && local.root === lease.root;
  local.goodAt = lease.fence;
  if (isGood) return;
  // There was a revision, and there is none: it was forgotten, and so are the files here.
  if (lease.root === null && local.root !== undefined)
    await rm(local.folder, { recursive: true, force: true });
  await makeWorkspace(local.folder);
  local.path = await realpath(local.folder);
  if (lease.root === null) {
    // Its first revision is the current contents, if the worker knows of no other.
    local.changes = new Map();
    delete local.tree;
    await keep(parts, local, lease, undefined, false);
    return;
  }
  const objects = createObjects(parts.store, prefixOf(local));
  const { folder: digest, changes } = readRoot(await objects.get(lease.root));
  const folder = await openFolder(local.path, local.name);
  try {
    local.tree = await restoreWorkspace(objects, folder, local.path, digest, local.tree);
  } finally {
    await folder.close();
  }
  local.changes = changes;
  local.root = lease.root;
}

/** Writes the pieces, the folders, the root, then the row. `only` has relative paths; undefined means all. */
async function keep(
  { pool, store, limits = SNAPSHOT_LIMITS }: Parts,
  local: Local,
  lease: WorkspaceLease,
  only: readonly string[] | undefined,
  release: boolean,
): Promise<void> {
  const objects = createObjects(store, prefixOf(local));
  const folder = await openFolder(local.path, local.name);
  let tree: FolderEntry;
  try {
    tree = await scanWorkspace({ objects, limits }, folder, local.path, local.tree, only);
  } finally {
    await folder.close();
  }
  const root = writeRoot({ folder: tree.digest, changes: local.changes });
  const digest = digestOf(root);
  if (digest !== local.root || !local.tree) {
    await objects.put(root);
    await objects.settled();
    if (release) forget(local);
    if (!(await saveWorkspace(pool, local, { fence: lease.fence, root: digest, release })))
      throw new Failure(
        'Unavailable',
        `the workspace ${local.name} went on to another worker before what was changed here could be kept`,
      );
  }
  local.tree = tree;
  local.root = digest;
}

/** The lease no longer belongs to this process; the row is separate. */
function forget(local: Local): void {
  clearInterval(local.timer);
  delete local.lease;
}

async function leave(parts: Parts, local: Local, written: ReadonlySet<string>): Promise<void> {
  const { lease } = local;
  try {
    if (lease && written.size > 0)
      await keep(parts, local, lease, written.has('') ? undefined : [...written], local.active === 1);
  } catch (error) {
    // The folder's contents are no revision: they are discarded when all users have left.
    delete local.goodAt;
    throw error;
  } finally {
    local.active -= 1;
    if (local.active === 0) {
      const isHeld = lease !== undefined && local.lease === lease;
      forget(local);
      if (isHeld) await releaseWorkspace(parts.pool, local, lease.fence).catch(runsOut);
    }
  }
}

/** The prefix of all its objects. */
export function prefixOf({ tenant, name }: WorkspaceKey): string {
  return `${tenant}/${name}/`;
}

/** If the row could not be written, it is free when its time is over. */
function runsOut(): void {}

function inUse({ name }: Local, who: string): FileProblem {
  return new FileProblem(
    'Timeout',
    `the workspace ${name} is in use by ${who}; nothing was done. Try again, or end what runs there in the background`,
  );
}

function aborted(signal: AbortSignal | undefined): { readonly promise: Promise<false>; end(): void } {
  const ended = Promise.withResolvers<false>();
  const stop = (): void => ended.resolve(false);
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop);
  return { promise: ended.promise, end: () => signal?.removeEventListener('abort', stop) };
}

/** Is stored with the revision, so that a repeat on any worker finds what an earlier attempt has done to the files. */
function journalOf(local: Local): ChangeJournal {
  const keyOf = (key: string): string => digestOf(key).slice(0, JOURNAL_DIGEST);
  return {
    async judge(key, current) {
      const noted = local.changes.get(keyOf(key));
      if (!noted) return 'fresh';
      const is = fileDigest(current).slice(0, JOURNAL_DIGEST);
      if (is === noted.after) return 'done';
      return is === noted.before ? 'fresh' : 'lost';
    },
    async note(key, before, after) {
      const change = {
        before: fileDigest(before).slice(0, JOURNAL_DIGEST),
        after: fileDigest(after).slice(0, JOURNAL_DIGEST),
      };
      const others = [...local.changes].filter(([other]) => other !== keyOf(key));
      local.changes = new Map([...others.slice(1 - JOURNAL), [keyOf(key), change]]);
    },
  };
}

/** Forgets those that were unused the longest: their folders are compared whole when they are used again. */
function bound(known: Map<string, Local>): void {
  let sum = 0;
  for (const { tree } of known.values()) sum += 1 + (tree?.count ?? 0);
  for (const [folder, { tree, active, waiting }] of known) {
    if (sum <= REMEMBERED) return;
    if (active + waiting > 0) continue;
    known.delete(folder);
    sum -= 1 + (tree?.count ?? 0);
  }
}
