/**
 * A client that tries wrong keys must wait, each time longer. A right key is always accepted, also from the same
 * address, because behind a reverse proxy everybody has that address. Keys are 256 random bits; this limit only reduces
 * noise and makes attempts visible.
 */
import { normalizeIP, type RateLimitOptions } from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';
import { Failure } from '#domain/errors.ts';
import type { Api } from '../deps.ts';

/** Wrong keys allowed from one address (for IPv6, one network of 64 bits) until it has sent none for a minute. */
const WRONG_KEYS = 20;
/** Addresses that are remembered; the one that was silent the longest is forgotten first. */
const ADDRESSES = 10_000;
const LONGEST_SECONDS = 3_600;

/** Throws what authentication threw, or RateLimited in its place. Must be created after the plugin is registered. */
export function countWrongKeys(app: Api): (request: FastifyRequest, error: unknown) => Promise<never> {
  const options: RateLimitOptions = {
    max: WRONG_KEYS,
    timeWindow: '1 minute',
    exponentialBackoff: true,
    cache: ADDRESSES,
    keyGenerator: (request) => normalizeIP(addressOf(request)),
  };
  const count = app.createRateLimit(options);
  return async (request, error) => {
    const isWrongKey = error instanceof Failure && error.type === 'Unauthorized';
    if (!isWrongKey) throw error;
    const tries = await count(request);
    if (tries.isAllowed || !tries.isExceeded) throw error;
    throw new Failure('RateLimited', 'Too many wrong keys from this address', {
      retry_after: Math.min(LONGEST_SECONDS, tries.ttlInSeconds),
    });
  };
}

/** Requests that come over the Unix socket have no address; they are all of one user of this machine. */
export function addressOf({ ip }: { readonly ip?: string | undefined }): string {
  return ip ?? 'socket';
}
