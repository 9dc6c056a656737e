/**
 * Lets the Temporal web UI and CLI read what the payload codec encrypted (Temporal's remote codec protocol). The UI of
 * a server without a login cannot send a key, so access is by an address that only administrators know.
 */
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { Failure } from '#domain/errors.ts';
import { isToken } from '#policy/decision-token.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { problems } from '../server/openapi.ts';

/** The wire format of payloads: protobuf JSON with bytes in base64. */
const payloadsSchema = z.object({
  payloads: z
    .array(z.object({ metadata: z.record(z.string(), z.base64()).optional(), data: z.base64().optional() }))
    .max(1_000),
});

/** `key` is base64, as configured. */
export function codecToken(key: string): string {
  return createHmac('sha256', Buffer.from(key, 'base64'))
    .update('tempoclaw codec endpoint')
    .digest('base64url');
}

export function addRoutes(app: Api, deps: Pick<ApiDeps, 'codec' | 'settings'>): void {
  app.get(
    '/v1/codec',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['service'],
        operationId: 'getCodec',
        summary: 'Address of the codec endpoint, for the Temporal web UI',
        response: { 200: z.object({ endpoint: z.string() }), ...problems('NotFound') },
      },
    },
    async (request) => {
      if (!deps.codec) throw new Failure('NotFound', 'No encryption.key is configured: payloads are plain');
      const base = deps.settings.publicUrl ?? `${request.protocol}://${request.host}`;
      return { endpoint: `${base}/codec/${deps.codec.token}` };
    },
  );

  for (const direction of ['encode', 'decode'] as const) {
    app.post(
      `/codec/:token/${direction}`,
      {
        config: { scope: 'public' },
        schema: {
          tags: ['service'],
          operationId: `${direction}Payloads`,
          summary: `Remote codec: ${direction}`,
          params: z.object({ token: z.string().max(100) }),
          body: payloadsSchema,
          response: { 200: payloadsSchema, ...problems('InvalidInput', 'NotFound', 'Unprocessable') },
        },
      },
      async (request) => {
        if (!deps.codec || !isToken(request.params.token, deps.codec.token))
          throw new Failure('NotFound', 'There is no such codec endpoint');
        const payloads = request.body.payloads.map((payload) => ({
          metadata: mapValues(payload.metadata ?? {}, (value) => Buffer.from(value, 'base64')),
          data: Buffer.from(payload.data ?? '', 'base64'),
        }));
        const answer = await deps.codec.codec[direction](payloads).catch((error: Error) => {
          throw new Failure('Unprocessable', `The payloads cannot be ${direction}d: ${error.message}`);
        });
        return {
          payloads: answer.map((payload) => ({
            metadata: mapValues(payload.metadata ?? {}, (value) => Buffer.from(value).toString('base64')),
            data: Buffer.from(payload.data ?? []).toString('base64'),
          })),
        };
      },
    );
  }
}

function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  map: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
