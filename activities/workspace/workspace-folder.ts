/** The folder of an agent's files: one folder per tenant and workspace name below the configured root (VF-5). */
import { createHash, randomUUID } from 'node:crypto';
import { cp, lstat, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { AgentConfig } from '#domain/agent.ts';
import { isName } from '#domain/ids.ts';
import { Failure } from '#domain/errors.ts';
import { type TeamContext, teamWorkspace } from '#domain/team/team.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import { errnoOf } from './file-problem.ts';

/** The user and the session that an agent works for. */
export interface WorkspaceFor extends Pick<MessageContext, 'user' | 'subagent' | 'fork'> {
  readonly session: string;
  /** The team whose task it works on. */
  readonly team?: Pick<TeamContext, 'key'> | undefined;
}

/** A part of a FileScope. */
export interface Workspace {
  /** The folder. */
  readonly workspace: string;
  /** The folder that a new one is copied from. */
  readonly workspaceFrom?: string | undefined;
  /**
   * Whose documents appear in it as files: those that the user sees, the agent's own, or none when several agents work
   * there.
   */
  readonly shows: 'user' | 'agent' | 'none';
}

/** Returns the folder of an agent's work. */
export type WorkspaceOf = (
  tenant: string,
  agent: Pick<AgentConfig, 'key' | 'workspace'>,
  work: WorkspaceFor,
) => Workspace;

export function createWorkspaceOf(root: string): WorkspaceOf {
  const plain = plainWorkspaceOf(root);
  return (tenant, agent, work) => {
    const found = plain(tenant, agent, work);
    if (!work.fork) return found;
    // What would be changed outside the fork is copied when the fork first uses it.
    const [name = agent.key] = basename(found.workspace).split('.', 1);
    const own = workspaceFolder(root, tenant, name) + ownSuffix('session', work.fork.session);
    return { ...found, workspace: own, workspaceFrom: found.workspace };
  };
}

function plainWorkspaceOf(root: string): WorkspaceOf {
  return (tenant, { key, workspace = {} }, { user, session, team, subagent }) => {
    const at = (name: string, of = ''): string => workspaceFolder(root, tenant, name) + of;
    const { scope = 'user', name, from } = typeof workspace === 'string' ? SHARED(workspace) : workspace;
    if (team) return { workspace: at(teamWorkspace(team.key)), shows: 'none' };
    if (scope === 'team') return { workspace: at(teamWorkspace(name ?? key)), shows: 'none' };
    if (scope === 'shared') return { workspace: at(name ?? key), shows: 'agent' };
    const copied = from === undefined ? undefined : at(from);
    // Subagents use the files of the session that started the topmost of them.
    const whose = scope === 'user' ? user : (subagent?.root ?? session);
    if (whose === undefined) return { workspace: at(key), shows: 'user' };
    return { workspace: at(key, ownSuffix(scope, whose)), workspaceFrom: copied, shows: 'user' };
  };
}

const SHARED = (name: string) => ({ scope: 'shared' as const, name, from: undefined });

/** Names are single path segments, so no name reaches out of its tenant. */
function workspaceFolder(root: string, tenant: string, workspace: string): string {
  for (const name of [tenant, workspace])
    if (!isName(name))
      throw new Failure('InvalidInput', `${JSON.stringify(name)} cannot name a workspace folder`);
  return join(root, tenant, workspace);
}

/**
 * A name of letters that no file system confuses with another is used unchanged. Any other name is replaced by its
 * digest, with a dot that no plain name contains.
 */
function plainOrDigest(name: string): string {
  if (/^[a-z0-9_-]{1,64}$/.test(name)) return name;
  return `.${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
}

/**
 * Creates it if necessary, for its owner only. The folders above can be passed but not listed, because commands may run
 * as another user than ours (own-as.ts). An existing folder keeps its mode. `from`: it starts as a copy of that folder,
 * completely or not at all; of two concurrent copies the first counts.
 */
export async function makeWorkspace(folder: string, from?: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true, mode: 0o711 });
  if (from !== undefined && !(await isThere(folder)) && (await isThere(from))) await copyFolder(from, folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

async function isThere(folder: string): Promise<boolean> {
  return stat(folder).then(
    (found) => found.isDirectory(),
    (error: unknown) => {
      if (errnoOf(error) === 'ENOENT') return false;
      throw error;
    },
  );
}

/**
 * The remains of a killed worker have a name that no workspace has. Links are copied as links, so that nothing outside
 * is copied.
 */
async function copyFolder(from: string, folder: string): Promise<void> {
  const copy = join(dirname(folder), `.new-${randomUUID()}`);
  try {
    await cp(from, copy, {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
      // Our own files belong to the folder they were created in; sockets and pipes cannot be copied.
      filter: async (path) => {
        if (path === join(from, '.tempoclaw')) return false;
        const found = await lstat(path);
        return found.isFile() || found.isDirectory() || found.isSymbolicLink();
      },
    });
    await rename(copy, folder);
  } catch (error) {
    await rm(copy, { recursive: true, force: true });
    if (errnoOf(error) !== 'ENOTEMPTY' && errnoOf(error) !== 'EEXIST') throw error;
  }
}

/** Suffix of the names of all agents' workspaces that belong to a user or a session. */
export function ownSuffix(scope: 'user' | 'session', name: string): string {
  return `.${scope}-${plainOrDigest(name)}`;
}

/** Removes the folders with this suffix; returns how many there were. Safe to repeat. */
export async function removeWorkspaces(root: string, tenant: string, suffix: string): Promise<number> {
  const folders = await readdir(join(root, tenant)).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  });
  const own = folders.filter((folder) => folder.slice(folder.indexOf('.')) === suffix);
  for (const folder of own) await rm(join(root, tenant, folder), { recursive: true, force: true });
  return own.length;
}

/** Not a tenant's name: it marks a root that workers use. */
const MARK = '.workers';

/** Called by a worker that starts. */
export async function makeRoot(root: string): Promise<void> {
  await mkdir(join(root, MARK), { recursive: true, mode: 0o711 });
}

/** Whether workers of this machine, or of machines that share the folder, use it. */
export function isWorkersRoot(root: string): Promise<boolean> {
  return isThere(join(root, MARK));
}
