/** What people allowed always, and taking it back (SH-2). */
import { z } from 'zod';
import { type AllowlistRow, listAllowlist, revokeAllowlistEntry } from '#store/allowlist-store.ts';
import { Failure } from '#domain/errors.ts';
import { isMessageId } from '#domain/ids.ts';
import { allowlistEntrySchema } from '#domain/schema/exec-allowlist.ts';
import { labelSchema, nameSchema, pageQuery, pageSchema } from '#domain/schema/scalars.ts';
import { shownEntry } from '#domain/shell/allowlist.ts';
import { callerOf, signatureOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { problems } from '../openapi.ts';
import { isTimeKeys, readPage } from '../pages.ts';

export function addExecAllowlistRoutes(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/exec-allowlist',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['policy'],
        operationId: 'listExecAllowlist',
        summary: 'List what was allowed always, newest first',
        description: 'A key with a user sees what is its user’s or everybody’s.',
        querystring: z.strictObject({
          ...pageQuery,
          agent: nameSchema.optional(),
          user: labelSchema.optional(),
        }),
        response: { 200: pageSchema(allowlistEntrySchema), ...problems() },
      },
    },
    async (request) => {
      const { tenant, user: viewer } = callerOf(request);
      const { agent, user } = request.query;
      return readPage(
        request.query,
        (limit, after) =>
          listAllowlist(
            deps.pool,
            tenant,
            { viewer, agent, user },
            limit,
            after && [String(after[0]), String(after[1])],
          ),
        (row) => [row.created_at.toISOString(), row.id],
        showEntry,
        isTimeKeys,
      );
    },
  );

  app.delete(
    '/v1/exec-allowlist/:id',
    {
      config: { scope: 'approve' },
      schema: {
        tags: ['policy'],
        operationId: 'deleteExecAllowlistEntry',
        summary: 'Take back what was allowed always',
        description: 'From the next judged call on. A key with a user takes back its user’s own.',
        params: z.object({ id: z.string() }),
        response: { 204: z.null().meta({ description: 'It is no longer allowed' }), ...problems('NotFound') },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { id } = request.params;
      const revoked =
        isMessageId(id) &&
        (await revokeAllowlistEntry(deps.pool, caller.tenant, caller.user, id, signatureOf(caller)));
      if (!revoked) throw new Failure('NotFound', 'There is no entry with this id');
      return reply.code(204).send(null);
    },
  );
}

function showEntry(row: AllowlistRow): z.infer<typeof allowlistEntrySchema> {
  const { id, agent_key, user_id, tool, pattern, approval_id, created_by, created_at } = row;
  return {
    id,
    agent: agent_key,
    user: user_id,
    tool,
    allows: shownEntry(pattern),
    approval_id,
    created_by,
    created_at: created_at.toISOString(),
  };
}
