/**
 * Implements Idempotency-Key on every POST: the same request under the same key gets the same stored answer. Answers
 * that must not be kept (those that say "try again", and secrets) are not kept.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type HeldIdempotencyKey,
  releaseIdempotencyKey,
  reserveIdempotencyKey,
  storeIdempotentAnswer,
} from '#store/idempotency-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { Failure } from '#domain/errors.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { type Caller, callerOf } from './auth.ts';
import type { Api } from '../deps.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set while this request must answer or release its key. */
    idempotency: HeldKey | null;
  }
  interface FastifyContextConfig {
    /**
     * The route may run while the first request with the key is still running, because its ids are derived from the
     * key.
     */
    repeatable?: true;
    /** Fields that are stored as null, because they are shown only once. */
    shownOnce?: readonly string[];
  }
}

interface HeldKey {
  readonly key: HeldIdempotencyKey;
  readonly tenant: string;
}

const MAX_KEY = 255;
/** Parameters that do not change the request: seconds to wait are how a caller receives the answer. */
const NOT_PART_OF_REQUEST = /^(wait)$/;

/** The checked header. */
export function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return undefined;
  if (
    typeof header !== 'string' ||
    header.length === 0 ||
    header.length > MAX_KEY ||
    !/^[\x20-\x7e]+$/.test(header)
  )
    throw new Failure('InvalidInput', `Idempotency-Key must be 1 to ${MAX_KEY} printable ASCII characters`);
  return header;
}

/**
 * An id that is derived from the request's key, so that a repeated request makes the same thing. Without a key, a
 * random stem.
 */
export function stemOf(
  request: FastifyRequest,
  caller: Caller,
  ...parts: readonly string[]
): string | undefined {
  const key = idempotencyKeyOf(request);
  return key === undefined ? undefined : stemOfKey(key, caller, ...parts);
}

/** The same for a key that did not come in the header. */
export function stemOfKey(key: string, caller: Caller, ...parts: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([caller.tenant, caller.keyId, ...parts, key]))
    .digest('hex')
    .slice(0, 32);
}

export function useIdempotency(app: Api, pool: Pool): void {
  app.decorateRequest('idempotency', null);

  app.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'POST' || request.caller === null) return undefined;
    const header = idempotencyKeyOf(request);
    if (header === undefined) return undefined;
    const caller = callerOf(request);
    const key = { apiKey: caller.keyId, key: header, requestHash: hashOf(request) };
    const state = await reserveIdempotencyKey(forTenant(pool, caller.tenant), key);
    if (state.since !== null) {
      request.idempotency = { key: { ...key, since: state.since }, tenant: caller.tenant };
      return undefined;
    }
    if (state.request_hash !== null && state.request_hash !== key.requestHash)
      throw new Failure(
        'IdempotencyMismatch',
        'This Idempotency-Key was used with another request; use a new one',
      );
    if (state.status !== null) return replay(reply, { ...state, status: state.status });
    if (!request.routeOptions.config.repeatable)
      throw new Failure(
        'IdempotencyInFlight',
        'The first request with this Idempotency-Key is still running',
      );
    return undefined;
  });

  app.addHook('onSend', async (request, reply, payload) => {
    const held = request.idempotency;
    if (!held) return;
    request.idempotency = null;
    await settle(pool, held, reply, payload, request.routeOptions.config.shownOnce ?? []);
  });

  // The answer was never sent: the connection broke, or the reply was hijacked.
  app.addHook('onResponse', async (request) => {
    const held = request.idempotency;
    if (held) await releaseIdempotencyKey(forTenant(pool, held.tenant), held.key);
  });
}

async function settle(
  pool: Pool,
  held: HeldKey,
  reply: FastifyReply,
  payload: unknown,
  shownOnce: readonly string[],
): Promise<void> {
  const db = forTenant(pool, held.tenant);
  const status = reply.statusCode;
  try {
    if (typeof payload === 'string' && isKept(status, payload)) {
      const type = reply.getHeader('content-type');
      const location = reply.getHeader('location');
      await storeIdempotentAnswer(db, held.key, {
        status,
        body: withoutSecrets(payload, shownOnce),
        headers: {
          ...(typeof type === 'string' ? { 'content-type': type } : {}),
          ...(typeof location === 'string' ? { location } : {}),
        },
      });
    } else await releaseIdempotencyKey(db, held.key);
  } catch (error) {
    // The work is done and its answer is true. Only a repeat of it will be less convenient.
    reply.log.error({ err: error }, 'the answer could not be kept for its idempotency key');
  }
}

/**
 * Keeps answers that will be the same the next time. It does not keep refusals for missing rights, or anything that
 * says "try again".
 */
function isKept(status: number, payload: string): boolean {
  if (status < 400) return true;
  if (status >= 500 || status === 401 || status === 403 || status === 429) return false;
  const body: unknown = JSON.parse(payload);
  return typeof body === 'object' && body !== null && 'retryable' in body && body.retryable === false;
}

function withoutSecrets(payload: string, names: readonly string[]): string {
  if (names.length === 0) return payload;
  return JSON.stringify(JSON.parse(payload, (name, value: unknown) => (names.includes(name) ? null : value)));
}

function replay(
  reply: FastifyReply,
  answer: {
    readonly status: number;
    readonly body: string | null;
    readonly headers: Record<string, string> | null;
  },
): FastifyReply {
  reply.serializer((payload) => String(payload));
  return reply
    .code(answer.status)
    .headers(answer.headers ?? {})
    .header('idempotent-replayed', 'true')
    .send(answer.body ?? '');
}

function hashOf(request: FastifyRequest): string {
  const url = new URL(request.url, 'http://api.invalid');
  const query = [...url.searchParams].filter(([name]) => !NOT_PART_OF_REQUEST.test(name)).sort(byName);
  return createHash('sha256')
    .update(JSON.stringify([request.method, url.pathname, query, sorted(request.body)]))
    .digest('hex');
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Field order does not make two requests different. json-body.ts limits the depth. */
function sorted(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return createHash('sha256').update(value).digest('hex');
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(byName)
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}
