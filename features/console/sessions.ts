/** Sessions of browsers: begun with a key or a link, and accepted in place of the key on every route. */
import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { ApiCore } from '#api/api-parts.ts';
import type { Credential } from '#api/server/auth.ts';
import { Failure } from '#domain/errors.ts';
import type { ApiKeyRow } from '#store/api-key-store.ts';
import { readInstallation } from '#store/installation-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import {
  type ConsoleSessionRow,
  deleteSession,
  findConsoleSession,
  hasSession,
  insertSession,
  isSessionInForce,
  rotateSession,
  touchSession,
} from './store.ts';
import {
  createSessionCookie,
  csrfToken,
  hashToken,
  isEqual,
  makeToken,
  type SessionCookie,
} from './tokens.ts';

const READS = new Set(['GET', 'HEAD']);

/** A session as its browser sees it. `cookie` is the value of Set-Cookie, if the token is a new one. */
export interface BrowserSession {
  readonly csrf_token: string;
  readonly expires_at: Date;
  readonly cookie?: string;
}

export interface ConsoleSessions {
  /** The session of a request; undefined when it carries none. @throws Failure Unauthorized, Forbidden */
  find(request: FastifyRequest): Promise<Credential | undefined>;
  /** Begins a session with the rights of the key, and ends the one that the browser has had. */
  begin(request: FastifyRequest, key: ApiKeyRow): Promise<BrowserSession>;
  /** Answers a page that was loaded, and gives its browser a new token. @throws Failure Unauthorized */
  resume(request: FastifyRequest): Promise<BrowserSession>;
  /** Whether a browser is logged in with the key. */
  isOpen(tenant: string, keyId: string): Promise<boolean>;
  /** Ends the session, if there is one. `cookie` is the value of Set-Cookie that removes the cookie. */
  end(request: FastifyRequest): Promise<{ readonly cookie: string; readonly key: ApiKeyRow | undefined }>;
}

export function createConsoleSessions({ config, pool, tokenSecret }: ApiCore): ConsoleSessions {
  let cookieOf: Promise<SessionCookie> | undefined;
  const cookie = (): Promise<SessionCookie> =>
    (cookieOf ??= readInstallation(pool)
      .then((id) => createSessionCookie(id, config.api.publicUrl?.startsWith('https:') ?? false))
      .catch((error: unknown) => {
        cookieOf = undefined;
        throw error;
      }));

  async function read(
    request: FastifyRequest,
  ): Promise<{ readonly row: ConsoleSessionRow; readonly hash: Buffer } | undefined> {
    const token = isOwnPage(request) ? (await cookie()).read(request.headers.cookie) : undefined;
    if (!token) return undefined;
    const hash = hashToken(token);
    const row = await findConsoleSession(pool, hash, config.console.idleMinutes);
    if (!row) return undefined;
    if (!row.is_replayed) return { row, hash };
    // Both who has the copy and who had the original must log in again.
    await deleteSession(forTenant(pool, row.key.tenant_id), row.id);
    request.log.warn(
      { tenant: row.key.tenant_id, key: row.key.id },
      'a replaced console token was used again',
    );
    return undefined;
  }

  const csrf = ({ id, key }: Pick<ConsoleSessionRow, 'id' | 'key'>): string =>
    csrfToken(tokenSecret, key.tenant_id, id);

  return {
    async find(request) {
      const found = await read(request);
      if (!found) return undefined;
      const { row } = found;
      if (!READS.has(request.method) && !isEqual(request.headers['x-csrf-token'], csrf(row)))
        throw new Failure('Forbidden', 'Changes by a browser need its X-CSRF-Token; reload the page');
      const db = forTenant(pool, row.key.tenant_id);
      if (row.is_due) await touchSession(db, row.id);
      return {
        id: row.id,
        key: row.key,
        isValid: () => isSessionInForce(db, row.id, config.console.idleMinutes),
      };
    },
    async begin(request, key) {
      const before = await read(request);
      if (before) await deleteSession(forTenant(pool, before.row.key.tenant_id), before.row.id);
      const id = `con_${randomBytes(9).toString('hex')}`;
      const value = makeToken(256);
      const expires = await insertSession(forTenant(pool, key.tenant_id), {
        id,
        keyId: key.id,
        hash: hashToken(value),
        hours: config.console.maxAgeHours,
      });
      request.log.info({ tenant: key.tenant_id, key: key.id }, 'a browser logged in');
      return {
        csrf_token: csrf({ id, key }),
        expires_at: expires,
        cookie: (await cookie()).write({ value, expires }),
      };
    },
    async resume(request) {
      const found = await read(request);
      if (!found)
        throw new Failure('Unauthorized', 'This browser is not logged in, or its session has ended');
      const { row, hash } = found;
      const db = forTenant(pool, row.key.tenant_id);
      if (row.is_due) await touchSession(db, row.id);
      const value = makeToken(256);
      const session = { csrf_token: csrf(row), expires_at: row.expires_at };
      if (!(await rotateSession(db, row.id, hash, hashToken(value)))) return session;
      return { ...session, cookie: (await cookie()).write({ value, expires: row.expires_at }) };
    },
    isOpen: (tenant, keyId) => hasSession(forTenant(pool, tenant), keyId, config.console.idleMinutes),
    async end(request) {
      const found = await read(request);
      if (found) await deleteSession(forTenant(pool, found.row.key.tenant_id), found.row.id);
      return { cookie: (await cookie()).write(), key: found?.row.key };
    },
  };
}

/**
 * Whether our own page sends the request. Pages on other ports of this host are of the same site, so their browser adds
 * the cookie to what they send. A protocol other than HTTP has no check of its own.
 */
function isOwnPage({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  return headers.upgrade === undefined && (site === undefined || site === 'same-origin' || site === 'none');
}
