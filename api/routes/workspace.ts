/** Transfers raw bytes in and out of an agent's workspace, by the rules of its file tools. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Failure } from '#domain/errors.ts';
import { labelSchema, sessionKeySchema } from '#domain/schema/scalars.ts';
import { findAgent } from '#store/agent-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { callerOf, requireScope, signatureOf } from '../server/auth.ts';
import type { Api, ApiDeps, WorkspaceRequest } from '../deps.ts';
import { fileBody, fileTooLarge, takeFileBodies } from '../server/file-body.ts';
import { paramOf } from '../found.ts';
import { bytesOf, problems } from '../server/openapi.ts';
import { fileOwner } from './files.ts';

/** Largest file in either direction. */
const MAX_BYTES = 50_000_000;

const querySchema = z.strictObject({
  user: labelSchema.optional().describe('Whose; a user’s key means its own'),
  session: sessionKeySchema.optional().describe('Where each session has a workspace of its own'),
});

const writtenSchema = z.object({ path: z.string(), bytes: z.int() });

const url = '/v1/agents/:agent/workspace/*';

export function addRoutes(app: Api, deps: ApiDeps): void {
  async function readRequest(request: FastifyRequest): Promise<WorkspaceRequest & { readonly path: string }> {
    const caller = callerOf(request);
    const { tenant } = caller;
    const { user: named, session = '' } = request.query as z.infer<typeof querySchema>;
    const agent = await findAgent(forTenant(deps.pool, tenant), String(paramOf(request, 'agent')));
    if (!agent) throw new Failure('NotFound', 'There is no agent with this key');
    const user = fileOwner(caller, named);
    // What all users of the agent share, and sessions of any user, do not belong to one user.
    if (caller.confinedTo !== null && (session !== '' || isShared(agent.config)))
      requireScope(caller, 'admin');
    return {
      tenant,
      agent: agent.config,
      user,
      session,
      by: signatureOf(caller),
      path: String(paramOf(request, '*')),
    };
  }

  app.get(
    url,
    {
      config: { scope: 'read' },
      schema: {
        tags: ['agents'],
        operationId: 'getWorkspaceFile',
        summary: 'Get a file of an agent’s workspace as it is',
        description: `At most ${MAX_BYTES} bytes. The \`ETag\` names it as it is, for \`If-Match\`. Where the API does not see the workspaces of its workers it is \`Unavailable\`.`,
        querystring: querySchema,
        response: {
          200: bytesOf('application/octet-stream', 'The bytes of the file'),
          ...problems('NotFound', 'TooLarge', 'Conflict'),
        },
      },
      serializerCompiler: () => (data) => data as string,
    },
    async (request, reply: FastifyReply) => {
      const { path, ...whose } = await readRequest(request);
      const { bytes, version, stream } = await deps.workspaces.read(whose, path);
      if (bytes > MAX_BYTES) {
        stream.destroy();
        throw fileTooLarge(MAX_BYTES);
      }
      return reply
        .type('application/octet-stream')
        .header('content-disposition', 'attachment')
        .header('etag', `"${version}"`)
        .send(stream as never);
    },
  );

  app.register(async (raw) => {
    takeFileBodies(raw);
    raw.put(
      url,
      {
        config: { scope: 'run' },
        schema: {
          tags: ['agents'],
          operationId: 'putWorkspaceFile',
          summary: 'Put a file into an agent’s workspace',
          description: `The body is the file, of whatever content type, at most ${MAX_BYTES} bytes; folders are made. A context file or one of memory becomes a row, as if the agent had written it. With \`If-Match\` it replaces what has that \`ETag\` and nothing else, with \`If-None-Match: *\` it is written where nothing is.`,
          querystring: querySchema,
          response: {
            200: writtenSchema,
            201: writtenSchema,
            ...problems('NotFound', 'TooLarge', 'Unprocessable', 'Conflict', 'PreconditionFailed'),
          },
        },
      },
      async (request, reply) => {
        const { path, ...whose } = await readRequest(request);
        if (whose.user === null) requireScope(callerOf(request), 'admin');
        const check = preconditionOf(request);
        const { created, bytes, version } = await deps.workspaces.write(
          whose,
          path,
          fileBody(request, MAX_BYTES),
          check,
        );
        return reply
          .code(created ? 201 : 200)
          .header('etag', `"${version}"`)
          .send({ path, bytes });
      },
    );
  });
}

/**
 * Implements RFC 9110 §13.1: throws if the file is not in the state that the caller requires. Undefined means that any
 * state is accepted.
 */
function preconditionOf({ headers }: FastifyRequest): ((version: string | undefined) => void) | undefined {
  const { 'if-match': match, 'if-none-match': none } = headers;
  if (match === undefined && none === undefined) return undefined;
  return (version) => {
    const names = (list: string): boolean =>
      version !== undefined &&
      list.split(',').some((one) => one.trim() === '*' || one.trim() === `"${version}"`);
    if ((match !== undefined && !names(match)) || (none !== undefined && names(none)))
      throw new Failure(
        'PreconditionFailed',
        version === undefined ? 'There is no such file' : 'The file is another one by now; get it again',
      );
  };
}

function isShared({ workspace }: WorkspaceRequest['agent']): boolean {
  return typeof workspace === 'string' || workspace?.scope === 'shared' || workspace?.scope === 'team';
}
