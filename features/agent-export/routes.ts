/** DU-8: serves agents as files, out and in. */
import { z } from 'zod';
import { EXPORT_BYTES, EXPORT_TYPE, EXPORT_USERS, importedSchema } from './schema.ts';
import { labelSchema, nameSchema } from '#domain/schema/scalars.ts';
import { Failure } from '#domain/errors.ts';
import { callerOf, signatureOf } from '#api/server/auth.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { exportAgent } from './export-agent.ts';
import { importAgent } from './import-agent.ts';
import { bytesOf, problems } from '#api/server/openapi.ts';

const params = z.object({ agent: nameSchema });
const exportQuery = z.strictObject({
  user: z
    .union([labelSchema, z.array(labelSchema).max(EXPORT_USERS)])
    .optional()
    .describe('Whose documents come with it; may be given more than once'),
});
const importQuery = z.strictObject({
  replace: z.enum(['true', 'false']).optional().describe('Whether what is there and differs is overwritten'),
  trusted: z
    .enum(['true', 'false'])
    .optional()
    .describe(
      'Whether its word counts for which documents are not from outside, and which skills somebody has agreed to; none else',
    ),
});

export function addRoutes(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/agents/:agent/export',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['agents'],
        operationId: 'exportAgent',
        summary: 'Get an agent as a file',
        description: `Its definition, documents and skills, without secrets: lines of JSON, at most ${EXPORT_BYTES} bytes.`,
        params,
        querystring: exportQuery,
        response: {
          200: bytesOf(EXPORT_TYPE, 'A line of JSON for each part'),
          ...problems('NotFound', 'TooLarge'),
        },
      },
      serializerCompiler: () => (data) => data as string,
    },
    async (request, reply) => {
      const { tenant } = callerOf(request);
      const { user = [] } = request.query;
      const bytes = await exportAgent(deps, tenant, request.params.agent, [user].flat());
      if (!bytes) throw new Failure('NotFound', 'There is no agent with this key');
      return reply.type(EXPORT_TYPE).header('content-disposition', 'attachment').send(bytes);
    },
  );

  app.register(async (raw: Api) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    raw.put(
      '/v1/agents/:agent/import',
      {
        config: { scope: 'admin' },
        bodyLimit: EXPORT_BYTES,
        schema: {
          tags: ['agents'],
          operationId: 'importAgent',
          summary: 'Make an agent of a file',
          description:
            'The body is an export, under whatever key. What is not valid is refused with its line before anything is written. Safe to repeat.',
          params,
          querystring: importQuery,
          response: { 200: importedSchema, ...problems('Conflict', 'TooLarge', 'Unprocessable') },
        },
      },
      async (request) => {
        const caller = callerOf(request);
        const { replace, trusted } = request.query;
        const requested = {
          tenant: caller.tenant,
          by: signatureOf(caller),
          key: request.params.agent,
          replace: replace === 'true',
          trusted: trusted === 'true',
        };
        return importAgent(deps, requested, (request.body as Buffer | undefined) ?? Buffer.alloc(0));
      },
    );
  });
}
