/**
 * Reads and writes files of workspaces for callers other than agents, where this process can access the folders of
 * workers.
 */
import { randomUUID } from 'node:crypto';
import type { AgentConfig } from '#domain/agent.ts';
import { Failure, type FailureType, type ToolErrorCode } from '#domain/errors.ts';
import { documentsVersion } from '#store/files/document-store.ts';
import { createFileLock } from '#store/files/file-lock.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { Scrubber } from '#store/secrets/scrubber.ts';
import { forkOfSession } from '#store/turns/session-store.ts';
import { FileProblem } from './file-problem.ts';
import { createFiles } from './files.ts';
import type { FileScope } from './contract.ts';
import { withDocuments } from './documents/with-documents.ts';
import { createWorkspaceOf, isWorkersRoot } from './workspace-folder.ts';

interface WorkspaceRequest {
  readonly tenant: string;
  readonly agent: AgentConfig;
  readonly user: string | null;
  readonly session: string;
  readonly by: string;
}

export function createWorkspaceAccess({
  root,
  deniedPaths,
  follow,
  pool,
  journalDir,
  scrubberOf,
}: {
  /** The folder of all workspaces. */
  readonly root: string;
  /** They follow the work: a folder on this machine is only a copy. */
  readonly follow: boolean;
  readonly pool: Pool;
  readonly deniedPaths: readonly string[];
  readonly journalDir: string;
  readonly scrubberOf: (tenant: string) => Promise<Pick<Scrubber, 'text'>>;
}) {
  const files = withDocuments(
    createFiles({
      rules: { deniedPrefixes: deniedPaths },
      journalDir,
      now: Date.now,
      lock: createFileLock(pool),
    }),
    pool,
  );
  const workspaceOf = createWorkspaceOf(root);

  async function scopeOf({ tenant, agent, user, session, by }: WorkspaceRequest): Promise<FileScope> {
    if (follow || !(await isWorkersRoot(root)))
      throw new Failure(
        'Unavailable',
        'The API does not see the workspaces: it needs the workspaceRoot of its workers, and workspaces that follow the work are with them alone (docs/files.md)',
      );
    const fork = session === '' ? undefined : await forkOfSession(forTenant(pool, tenant), session);
    const { shows, ...workspace } = workspaceOf(tenant, agent, { user: user ?? undefined, session, fork });
    const scope = { tenant, agent: agent.key, user, type: agent.type };
    const { text: hide } = await scrubberOf(tenant);
    const version = await documentsVersion(pool, scope);
    const documents = { ...scope, version, shows, author: by, outside: () => ({}), hide };
    return { ...workspace, documents, idempotencyKey: `api/${randomUUID()}` };
  }

  return {
    read: (request: WorkspaceRequest, path: string) =>
      asFailure(async () => files.openRead(await scopeOf(request), path)),
    write: (
      request: WorkspaceRequest,
      path: string,
      content: AsyncIterable<Buffer>,
      check?: (version: string | undefined) => void,
    ) => asFailure(async () => files.write(await scopeOf(request), path, content, check)),
  };
}

const FAILURE_OF: Partial<Record<ToolErrorCode, FailureType>> = {
  FileNotFound: 'NotFound',
  InvalidPath: 'InvalidInput',
  InvalidArgs: 'Unprocessable',
  PermissionDenied: 'Forbidden',
};

async function asFailure<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    throw new Failure(FAILURE_OF[error.code] ?? 'Conflict', error.message);
  }
}
