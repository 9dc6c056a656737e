/**
 * Authenticates callers by bearer keys, and by what a feature accepts in place of a key. A key is never read from the
 * query, which ends up in logs. The tenant comes from the key and from nothing else.
 */
import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { type ApiKeyRow, findApiKeyByHash } from '#store/api-key-store.ts';
import type { ChangeFeed } from '#store/postgres/change-feed.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { tenantFrozen } from '#store/tenant-freeze.ts';
import { Failure } from '#domain/errors.ts';
import { SCOPES, type Scope } from '#domain/schema/api-key.ts';
import { OPERATOR_TENANT } from '#domain/tenant.ts';

export interface Caller {
  readonly tenant: string;
  readonly keyId: string;
  readonly keyName: string;
  /** Set when the key acts for one user only. */
  readonly user: string | null;
  /** The only user whose sessions the key reaches (IN-9). Null means the sessions of all users. */
  readonly confinedTo: string | null;
  readonly scopes: ReadonlySet<Scope>;
  /** Groups that an identity provider has the caller in; approvers can be named by them. */
  readonly groups: readonly string[];
  /** Why the tenant is frozen; null when it is not. */
  readonly frozenFor: string | null;
  /** The caller's `traceparent`, if the request has a valid one. */
  readonly trace?: string | undefined;
}

/**
 * What a feature accepts in place of a key, such as the cookie of a browser or a token of an identity provider. The
 * feature guards it against requests that its holder did not intend.
 */
export interface Credential {
  /** Distinguishes it from others of the key. */
  readonly id: string;
  /** The key that it stands for; its rights are those of the key. */
  readonly key: ApiKeyRow;
  /** When it ends by itself, in milliseconds since 1970. */
  readonly until?: number;
  /** Whether it is still accepted; called now and then while a stream is open. */
  isValid(): Promise<boolean>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on the few routes that need no key. */
    caller: Caller | null;
    /** Set when the caller sent something else in place of a key. */
    credential: Credential | null;
  }
  interface FastifyContextConfig {
    /** The scope a route needs; `public` needs no key. */
    scope?: Scope | 'public';
  }
}

const KEY = /^tc_[0-9A-Za-z]{32,128}$/;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 43;

/** For at most this long, this process still accepts a key that was revoked elsewhere. */
const CACHE_MS = 10_000;
const CACHE_SIZE = 1_000;

/** A secret of 256 random bits in letters and digits. */
export function makeSecret(): string {
  return `tc_${Array.from({ length: SECRET_LENGTH }, () => BASE62[randomInt(BASE62.length)]).join('')}`;
}

export function isSecret(text: string): boolean {
  return KEY.test(text);
}

export function makeKeyId(): string {
  return `key_${randomBytes(9).toString('hex')}`;
}

export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** What a bearer token that is no key of ours stands for; undefined when it is none of the reader's. */
export type ReadBearer = (token: string) => Promise<Credential | undefined>;

export interface Authenticator {
  /**
   * Returns the caller, and what stands for its key. Throws Unauthorized; Unavailable errors of the database pass
   * through.
   */
  authenticate(
    header: string | undefined,
  ): Promise<{ readonly caller: Caller; readonly credential: Credential | null }>;
  /** Throws as `authenticate` does. */
  findKey(secret: string): Promise<ApiKeyRow>;
  /** Must be called when a key is revoked in this process. */
  forget(keyId: string): void;
}

/** The authenticator as routes get it. */
export interface RouteAuthenticator extends Pick<Authenticator, 'forget'> {
  /** Finds a key that a request carries in its body. @throws Failure Unauthorized; RateLimited after many wrong ones */
  findKey(request: FastifyRequest, secret: string): Promise<ApiKeyRow>;
  /** Counts a wrong secret of another kind, and throws the error, or RateLimited in its place. */
  refuse(request: FastifyRequest, error: unknown): Promise<never>;
}

interface Remembered {
  readonly row: ApiKeyRow;
  /** Absent for a key of ours. */
  readonly credential?: Credential;
  readonly until: number;
}

/** `changes` announce tenants that were frozen or unfrozen. */
export function createAuthenticator(
  pool: Pool,
  now: () => number = Date.now,
  changes?: Pick<ChangeFeed, 'subscribe'>,
  readBearer: ReadBearer = async () => undefined,
): Authenticator {
  let cache = new Map<string, Remembered>();
  changes?.subscribe('tenants', () => {
    cache = new Map();
  });

  async function find(
    hash: Buffer,
    read: () => Promise<Omit<Remembered, 'until'> | undefined>,
  ): Promise<Omit<Remembered, 'until'> | undefined> {
    const name = hash.toString('base64');
    const known = cache.get(name);
    if (known && known.until > now()) return known;
    cache.delete(name);
    // A row that was read before a change goes to the map that the change has dropped.
    const rows = cache;
    const found = await read();
    if (found) {
      const oldest = rows.size >= CACHE_SIZE ? rows.keys().next().value : undefined;
      if (oldest !== undefined) rows.delete(oldest);
      rows.set(name, { ...found, until: Math.min(now() + CACHE_MS, found.credential?.until ?? Infinity) });
    }
    return found;
  }

  async function findKey(secret: string): Promise<ApiKeyRow> {
    if (!isSecret(secret)) throw unknownKey();
    const hash = hashSecret(secret);
    const found = await find(hash, async () => {
      const row = await findApiKeyByHash(pool, hash);
      return row && { row };
    });
    if (!found || !timingSafeEqual(found.row.hash, hash)) throw unknownKey();
    const { row } = found;
    if (row.revoked_at || (row.expires_at && row.expires_at.getTime() <= now())) throw unknownKey();
    return row;
  }

  async function findCredential(token: string): Promise<Credential | undefined> {
    const found = await find(hashSecret(token), async () => {
      const credential = await readBearer(token);
      return credential && { row: credential.key, credential };
    });
    return found?.credential;
  }

  return {
    async authenticate(header) {
      const secret = /^bearer +(\S+) *$/i.exec(header ?? '')?.[1];
      if (secret === undefined)
        throw new Failure('Unauthorized', 'Send the API key as "Authorization: Bearer tc_…"');
      const credential = isSecret(secret) ? undefined : await findCredential(secret);
      const key = credential?.key ?? (await findKey(secret));
      return { caller: callerOfKey(key), credential: credential ?? null };
    },
    findKey,
    forget(keyId) {
      for (const [name, { row }] of cache) if (row.id === keyId) cache.delete(name);
    },
  };
}

/** The identity that a key gives, whichever way a request carries it. */
export function callerOfKey(row: ApiKeyRow): Caller {
  const isAdmin = row.scopes.includes('admin');
  return {
    tenant: row.tenant_id,
    keyId: row.id,
    keyName: row.name,
    user: row.user_id,
    confinedTo: isAdmin ? null : row.user_id,
    scopes: new Set(SCOPES.filter((scope) => row.scopes.includes(scope) || isAdmin)),
    groups: row.groups,
    frozenFor: row.frozen_for,
  };
}

/** Wrong, revoked and expired keys get the same words, so that an answer is not an oracle. */
function unknownKey(): Failure {
  return new Failure('Unauthorized', 'The API key is not known, was revoked or has expired');
}

export function requireScope(caller: Caller, scope: Scope): void {
  if (!caller.scopes.has(scope))
    throw new Failure('Forbidden', `This needs a key with the scope ${scope}`, { scope });
}

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/** While its tenant is frozen, a caller can only read. @throws Failure TenantFrozen */
export function requireThawed({ tenant, frozenFor }: Caller, method: string): void {
  if (frozenFor !== null && !READING.has(method)) throw tenantFrozen(tenant, frozenFor);
}

/** `what` says what only the operator may do, such as "Tenants are made". */
export function requireOperator(tenant: string, what: string): void {
  if (tenant !== OPERATOR_TENANT)
    throw new Failure('Forbidden', `${what} with keys of the tenant ${OPERATOR_TENANT}, the operator's`);
}

/** The caller of a route that needs a key. */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new Failure('Unauthorized', 'Send the API key as "Authorization: Bearer tc_…"');
  return request.caller;
}

/** The name that a caller's decisions and stops are signed with. */
export function signatureOf(caller: Caller): string {
  return caller.user ?? `key:${caller.keyName}`;
}

/** The user whom a message is from. A user's key acts for that user only; a service's key may name any user. */
export function userOf(caller: Caller, named: string | undefined): string | undefined {
  if (caller.user === null) return named;
  if (named !== undefined && named !== caller.user)
    throw new Failure('Forbidden', `This key speaks for the user ${caller.user} only`);
  return caller.user;
}

/** Checks requests that let somebody else decide in the name of a user. */
export function requireOwnUser(caller: Caller, user: string, what: string): void {
  if (caller.user !== user && !caller.scopes.has('admin'))
    throw new Failure(
      'Forbidden',
      `A key makes ${what} for its own user; one for somebody else needs the scope admin`,
    );
}
