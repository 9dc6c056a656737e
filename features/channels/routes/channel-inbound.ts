/**
 * Serves the addresses that chat services call. They need no API key, but the service's own proof that the request is
 * its own.
 */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Failure } from '#domain/errors.ts';
import { SecretProblem } from '#domain/secret.ts';
import { nameSchema } from '#domain/schema/scalars.ts';
import { findChannel, openChannel } from '../store/channel-store.ts';
import { hearInbound } from './receive-inbound.ts';
import type { ServiceReply } from './channel-reader.ts';
import { loadChannelTypes } from './channel-types.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { problems } from '#api/server/openapi.ts';
import { OPERATOR_TENANT } from '#domain/tenant.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

const BYTES = 1_048_576;

export async function addRoutes(app: Api, deps: ApiDeps): Promise<void> {
  const { pool, secrets } = deps;
  const types = await loadChannelTypes(deps.features);
  // This has its own scope, because signatures cover the raw bytes.
  app.register(async (inbound: Api) => {
    inbound.removeAllContentTypeParsers();
    inbound.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BYTES }, (_request, body, done) =>
      done(null, body),
    );
    inbound.post(
      '/v1/channels/:key/inbound',
      {
        config: {
          scope: 'public',
          // This limit is apart from other public routes, so that a flood here does not affect those.
          ...(deps.settings.rateLimitPerMinute > 0 && {
            rateLimit: { keyGenerator: ({ ip }: FastifyRequest) => `inbound ${ip}` },
          }),
        },
        bodyLimit: BYTES,
        schema: {
          tags: ['channels'],
          operationId: 'receiveFromService',
          summary: 'Where a chat service calls',
          description: 'Takes no API key: the service signs what it sends. Each update counts once.',
          params: z.object({ key: nameSchema }),
          querystring: z.object({ tenant: nameSchema.default(OPERATOR_TENANT) }),
          response: { 200: z.unknown(), ...problems('Unauthorized', 'TooLarge', 'QueueFull') },
        },
      },
      async (request, reply) => {
        const { tenant } = request.query;
        const channel = await findChannel(forTenant(pool, tenant), request.params.key);
        const type = channel && types[channel.type];
        if (!channel?.enabled || !type?.reader) throw unproven();
        const { reader } = type;
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const credentials = await openChannel(secrets.sealer, secrets.vault.resolve, tenant, channel).catch(
          unopened,
        );
        const { headers } = request;
        const settings = { ...channel.settings };
        if (!reader.verify({ headers, body }, credentials, Date.now(), settings)) throw unproven();
        const reading = reader.read(parse(body), { key: channel.key, settings }, { headers, credentials });
        let answer: ServiceReply = reading.reply ?? { status: 200 };
        for (const one of reading.inbound) {
          const words = await hearInbound(deps, tenant, channel, one, type);
          if (words !== undefined) answer = reader.answer?.(one, words) ?? answer;
        }
        return reply.code(answer.status as 200).send(answer.body ?? {});
      },
    );
  });
}

/** Outsiders do not learn which secret is missing; deliveries of the channel say it. */
function unopened(error: unknown): never {
  if (!(error instanceof SecretProblem)) throw error;
  throw new Failure(
    'Unavailable',
    'The credentials of this channel cannot be read; its admin has to look at them',
  );
}

/** A channel that does not exist or is off gets the same words. */
function unproven(): Failure {
  return new Failure('Unauthorized', 'There is no such channel, or its service did not sign this request');
}

/**
 * Parses JSON, or keeps text, which is a form. It removes what no row can store, because the service would send it
 * again and again.
 */
function parse(body: Buffer): unknown {
  const text = body.toString('utf8');
  try {
    return JSON.parse(text, (_name, value: unknown) => (typeof value === 'string' ? storable(value) : value));
  } catch {
    // Slack's forms are not JSON.
    return storable(text);
  }
}

function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}
