/** Serves artifacts: uploads, and downloads in whole or in part. */
import { Readable } from 'node:stream';
import { z } from 'zod';
import { ARTIFACT_REF } from '#domain/files/attachment.ts';
import { Failure } from '#domain/errors.ts';
import { labelSchema } from '#domain/schema/scalars.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { callerOf } from '#api/server/auth.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { readFileBodies } from '#api/server/file-body.ts';
import { paramOf } from '#api/found.ts';
import { bytesOf, problems } from '#api/server/openapi.ts';
import { fileOwner } from '#api/routes/files.ts';
import { ARTIFACT_BYTES } from './contract.ts';
import { artifactSchema } from './schema.ts';
import { findArtifacts, putArtifact, readArtifact } from './store.ts';
import { encodeAnswer } from '#api/server/answer.ts';

const querySchema = z.strictObject({
  filename: z.string().max(1_000).optional().describe('Its name; also as a header, escaped as in an address'),
  user: labelSchema.optional().describe('Whose; a user’s key means its own'),
});

/** Media types that a browser displays or plays but does not run. */
const PASSIVE =
  /^(?:image\/(?:png|jpeg|gif|webp|avif)|(?:audio|video)\/[\w.+-]+|application\/(?:pdf|json|zip)|text\/(?:plain|csv))$/;

export function addRoutes(app: Api, { pool, artifactObjects: objects, secrets }: ApiDeps): void {
  const places = { pool, objects };
  app.register(async (raw) => {
    readFileBodies(raw, ARTIFACT_BYTES);
    raw.post(
      '/v1/artifacts',
      {
        config: { scope: 'run' },
        schema: {
          tags: ['artifacts'],
          operationId: 'putArtifact',
          summary: 'Put a file that messages and tools name artifact:ID',
          description: `The body is the file, at most ${ARTIFACT_BYTES} bytes; one whose bytes are not what its content type says is refused. The same file again is the same artifact, kept anew.`,
          querystring: querySchema,
          response: { 201: artifactSchema, ...problems('TooLarge', 'Unprocessable') },
        },
      },
      async (request, reply) => {
        const caller = callerOf(request);
        const { filename, user } = request.query as z.infer<typeof querySchema>;
        const { text: scrub } = await secrets.vault.scrubberOf(caller.tenant);
        const row = await putArtifact(places, caller.tenant, {
          bytes: (request.body as Buffer | undefined) ?? Buffer.alloc(0),
          user: fileOwner(caller, user),
          type: request.headers['content-type'],
          filename: filename ?? unescaped(request.headers['filename']),
          hasSecret: (text) => scrub(text) !== text,
        });
        const shown = { ...row, bytes: row.size, sha256: row.digest, user: row.user_id };
        return reply
          .code(201)
          .header('location', `/v1/artifacts/${row.id}`)
          .send(encodeAnswer(artifactSchema, shown));
      },
    );
  });

  app.get(
    '/v1/artifacts/:id',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['artifacts'],
        operationId: 'getArtifact',
        summary: 'Download an artifact, or a range of its bytes',
        description:
          'What a browser might run comes as application/octet-stream, and all of it as an attachment.',
        params: z.object({ id: z.string() }),
        response: {
          200: bytesOf('*/*', 'All of its bytes'),
          206: bytesOf('*/*', 'The range of its bytes'),
          304: z.null().describe('`If-None-Match` names it as it is'),
          416: z.null().describe('The range is past the end'),
          ...problems('NotFound'),
        },
      },
      serializerCompiler: () => (data) => data as string,
    },
    async (request, reply) => {
      const { tenant, confinedTo } = callerOf(request);
      const ref = `artifact:${String(paramOf(request, 'id'))}`;
      const ids = ARTIFACT_REF.exec(ref)?.slice(1) ?? [];
      const [row] = await findArtifacts(forTenant(pool, tenant), ids, confinedTo ?? undefined);
      if (!row) throw new Failure('NotFound', 'There is no artifact with this id');
      const name = encodeURIComponent(row.filename ?? row.id).replace(
        /[!'()*]/g,
        (c) => `%${c.charCodeAt(0).toString(16)}`,
      );
      const etag = `"${row.digest}"`;
      reply.headers({
        etag,
        'accept-ranges': 'bytes',
        'content-disposition': `attachment; filename*=UTF-8''${name}`,
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
      });
      const { range, 'if-range': ifRange = etag, 'if-none-match': known } = request.headers;
      if (known?.split(',').some((one) => ['*', etag, `W/${etag}`].includes(one.trim())))
        return reply.code(304).send(null as never);
      const requested = ifRange === etag ? rangeOf(range, row.size) : undefined;
      if (requested === 'past')
        return reply
          .code(416)
          .header('content-range', `bytes */${row.size}`)
          .send(null as never);
      const { from, end } = requested ?? { from: 0, end: row.size };
      if (requested) reply.code(206).header('content-range', `bytes ${from}-${end - 1}/${row.size}`);
      const stream = Readable.from(readArtifact(places, tenant, row.digest, from, end));
      return reply
        .type(PASSIVE.test(row.type) ? row.type : 'application/octet-stream')
        .header('content-length', end - from)
        .send(stream as never);
    },
  );
}

/** One range (RFC 9110 §14). Undefined means the whole: other units, several ranges, and invalid ranges. */
function rangeOf(
  header: string | undefined,
  size: number,
): { readonly from: number; readonly end: number } | 'past' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  const from = first === '' ? Math.max(size - Number(last), 0) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(Number(last) + 1, size);
  if (first !== '' && last !== '' && Number(last) < from) return undefined;
  return from < end ? { from, end } : 'past';
}

function unescaped(header: string | readonly string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined;
  try {
    return decodeURIComponent(header);
  } catch {
    return header;
  }
}
