/** Serves requests for access to MCP servers from their rows. */
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { Failure, fieldFailure } from '#domain/errors.ts';
import { mcpRequests } from '../resource/mcp-requests.ts';
import type { mcpRequestCreateSchema } from '../schema/mcp-server.ts';
import {
  findMcpRequest,
  insertMcpRequest,
  listMcpRequests,
  MAX_PENDING_REQUESTS,
  type McpRequestRow,
  reviewMcpRequest,
} from '../store/mcp-request-store.ts';
import { findMcpServer } from '../store/mcp-server-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { type Caller, signatureOf, userOf } from '#api/server/auth.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { readCreatedPage } from '#api/server/pages.ts';
import { requireAgents } from '#api/require-agents.ts';
import { serveResource } from '#api/serve-resource.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

export function addRoutes(app: Api, { pool }: ApiDeps): void {
  const find = async (caller: Caller, id: string): Promise<McpRequestRow | undefined> => {
    const row = await findMcpRequest(forTenant(pool, caller.tenant), id);
    const maySee = caller.scopes.has('admin') || row?.requested_by === signatureOf(caller);
    return maySee ? row : undefined;
  };
  serveResource(
    app,
    mcpRequests,
    {
      listMcpRequests: ({ db, caller, by, query }) =>
        readCreatedPage(
          query,
          (limit, after) =>
            listMcpRequests(db, { ...query, by: caller.scopes.has('admin') ? undefined : by }, limit, after),
          showRequest,
        ),
      async getMcpRequest({ caller, params }) {
        const row = await find(caller, params.id);
        return row && showRequest(row);
      },
      async createMcpRequest({ db, caller, by, body: { server: name, tool_allow, reason, ...fields } }) {
        const server = await findMcpServer(db, name);
        if (!server) throw new Failure('Unprocessable', `There is no MCP server ${name}`);
        const subject = await subjectOf(pool, caller, fields);
        const id = `mreq_${randomUUID()}`;
        const request = { id, kind: fields.scope, subject, tool_allow, reason, by };
        const row = await insertMcpRequest(db, server.id, request);
        if (row === 'taken')
          throw new Failure(
            'Conflict',
            `Access of ${fields.scope} ${subject} to ${name} is asked for already; it waits for an admin`,
          );
        if (row === 'full')
          throw new Failure(
            'Conflict',
            `${MAX_PENDING_REQUESTS} requests for ${name} wait for an admin, which is the most`,
          );
        return showRequest(row);
      },
      async reviewMcpRequest({ db, by, params: { id }, body: { decision, reason = null } }) {
        const row = await findMcpRequest(db, id);
        if (!row) return undefined;
        const status = decision === 'approve' ? 'approved' : 'rejected';
        const isDecided = await reviewMcpRequest(db, row, { status, reason, by });
        const now = await findMcpRequest(db, id);
        if (!now || isDecided) return now && showRequest(now);
        const { status: was, reviewed_by } = now;
        const reviewed_at = now.reviewed_at?.toISOString() ?? null;
        const decided = { status: was, reviewed_by, reviewed_at };
        throw new Failure('Conflict', `It was ${was} by ${reviewed_by} at ${reviewed_at}`, decided);
      },
    },
    find,
  );
}

/** A user's key requests access for that user only. @throws Failure Forbidden, Unprocessable */
async function subjectOf(
  pool: Pool,
  caller: Caller,
  { scope, subject }: Pick<z.output<typeof mcpRequestCreateSchema>, 'scope' | 'subject'>,
): Promise<string> {
  const found = scope === 'user' ? userOf(caller, subject) : subject;
  if (found === undefined)
    throw fieldFailure(
      'Unprocessable',
      'body/subject',
      `say which ${scope}${scope === 'user' ? '; the key has none' : ''}`,
    );
  if (scope === 'agent') await requireAgents(forTenant(pool, caller.tenant), [['body/subject', found]]);
  return found;
}

function showRequest(row: McpRequestRow) {
  return { ...row, scope: row.kind };
}
