/** Serves context files and memory from their rows. Each is written in the name of a user who may write it. */
import { createTwoFilesPatch } from 'diff';
import { type DocumentScope, keptText, mayWriteDocument } from '#domain/files/document.ts';
import { Failure } from '#domain/errors.ts';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import { documents } from '#domain/resource/documents.ts';
import { findAgent } from '#store/agent-store.ts';
import {
  type DocumentVersion,
  documentVersions,
  listDocuments,
  listDocumentsOfUser,
  readDocument,
  readDocumentVersion,
  writeDocument,
} from '#store/files/document-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { type Caller, requireScope, userOf } from '../server/auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { type Call, serveResource } from '../serve-resource.ts';

/** Milliseconds that a comparison may take: texts that have nothing in common would take minutes. */
const COMPARE_MS = 1_000;

type Target = Pick<Call, 'caller' | 'tenant' | 'by'> & {
  readonly params: { readonly agent: string };
  readonly query: { readonly user?: string | undefined };
};

/**
 * The owner of the files; null means the agent itself. An admin names the user, a user's key belongs to its user, and
 * any other key names the user it acts for.
 */
export function fileOwner(caller: Caller, named: string | undefined): string | null {
  return (caller.scopes.has('admin') ? named : userOf(caller, named)) ?? null;
}

interface Written {
  readonly text: string | null;
  readonly expected: number | undefined;
  readonly outside?: boolean;
  readonly read?: UsedTools;
}

export function addRoutes(app: Api, { pool, secrets, documentWritten }: ApiDeps): void {
  /** Returns undefined if there is no such agent. */
  async function scopeOf({ caller, tenant, params, query }: Target): Promise<DocumentScope | undefined> {
    const agent = await findAgent(forTenant(pool, tenant), params.agent);
    const user = fileOwner(caller, query.user);
    return agent && { tenant, agent: agent.config.key, user, type: agent.config.type };
  }

  async function write({ caller, by }: Target, scope: DocumentScope, path: string, written: Written) {
    const { user, type = 'open' } = scope;
    if (user === null) requireScope(caller, 'admin');
    if (!mayWriteDocument(type, path, user))
      throw new Failure(
        'Forbidden',
        `${path} of a predefined agent is its owner’s; its users have USER.md and memory`,
      );
    const { text, ...rest } = written;
    const { text: hide } = await secrets.vault.scrubberOf(scope.tenant);
    const kept = text === null ? null : keptText(path, user, hide(text));
    await writeDocument(pool, scope, { ...rest, path, author: by, by: () => kept });
    await documentWritten(scope, path, text === null);
  }

  serveResource(app, documents, {
    async listFiles(request) {
      const scope = await scopeOf(request);
      return scope && { data: await listDocuments(pool, scope) };
    },
    async listFilesOfUser({ caller, db, params: { user } }) {
      return { data: await listDocumentsOfUser(db, fileOwner(caller, user) ?? user) };
    },
    async getFile(request) {
      const scope = await scopeOf(request);
      return scope && readDocument(pool, scope, request.params.name);
    },
    async putFile(request) {
      const { name } = request.params;
      const { text, expected_revision: expected } = request.body;
      const scope = await scopeOf(request);
      if (!scope) return undefined;
      await write(request, scope, name, { text, expected });
      // An emptied BOOTSTRAP.md no longer exists (VF-1).
      return (
        (await readDocument(pool, scope, name)) ??
        emptied(scope, name, await documentVersions(pool, scope, name, request.caller.confinedTo))
      );
    },
    async deleteFile(request) {
      const { name } = request.params;
      const scope = await scopeOf(request);
      const [newest] = scope ? await documentVersions(pool, scope, name, request.caller.confinedTo) : [];
      if (!scope || !newest || newest.bytes === null) return false;
      await write(request, scope, name, { text: null, expected: newest.revision });
      return true;
    },
    async listFileVersions(request) {
      const scope = await scopeOf(request);
      const rows =
        scope && (await documentVersions(pool, scope, request.params.name, request.caller.confinedTo));
      return rows && { data: rows };
    },
    async compareFile(request) {
      const { name } = request.params;
      const scope = await scopeOf(request);
      if (!scope) return undefined;
      const [newest] = await documentVersions(pool, scope, name, request.caller.confinedTo);
      const { from, to = newest?.revision ?? from } = request.query;
      const [before, after] = await Promise.all(
        [from, to].map((each) => readDocumentVersion(pool, scope, name, each)),
      );
      if (!before || !after) return undefined;
      const old = before.text ?? '';
      const now = after.text ?? '';
      if (old === now) return { diff: '' };
      return { diff: compared(name, [old, now], [from, to]) };
    },
    async restoreFile(request) {
      const { name } = request.params;
      const { revision, expected_revision: expected } = request.body;
      const scope = await scopeOf(request);
      const version = scope && (await readDocumentVersion(pool, scope, name, revision));
      if (!scope || !version) return undefined;
      const { text, outside, read } = version;
      if (text === null)
        throw new Failure(
          'Unprocessable',
          `Revision ${revision} is the removal of ${name}; delete it for that`,
        );
      await write(request, scope, name, { text, expected, outside, read });
      return (
        (await readDocument(pool, scope, name)) ??
        emptied(scope, name, await documentVersions(pool, scope, name, request.caller.confinedTo))
      );
    },
  });
}

function compared(
  name: string,
  [old, now]: readonly [string, string],
  [from, to]: readonly [number, number],
): string {
  const limits = { timeout: COMPARE_MS };
  const diff = createTwoFilesPatch(name, name, old, now, `revision ${from}`, `revision ${to}`, limits);
  if (diff !== undefined) return diff;
  throw new Failure('Unprocessable', 'The versions have too little in common to be compared; read them both');
}

function emptied({ user }: DocumentScope, path: string, [newest]: readonly DocumentVersion[]) {
  const { revision = 0, created_at: updated_at = new Date() } = newest ?? {};
  return { path, user, revision, bytes: 0, outside: false, updated_at, text: '' };
}
