/**
 * Keeps people logged in to the console for as long as their provider says so: before a token ends, the refresh token
 * gets a new one. A session of a browser ends with its person's key, which ends with the token.
 */
import type { Pool } from '#store/postgres/pool.ts';
import type { Sealer } from '#store/seal.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { Failure } from '#domain/errors.ts';
import { type LoggedIn, type LoginIssuer, refreshLogin } from './login.ts';
import {
  deleteRefresh,
  putRefresh,
  type RefreshRow,
  refreshPlace,
  releaseRefresh,
  replaceRefresh,
  takeDueRefreshes,
} from './store.ts';

/** A token is replaced this long before its end, or at half of its life when it is short. */
const BEFORE_END_MS = 60_000;

function dueBefore(until: number): Date {
  const life = Math.max(0, until - Date.now());
  return new Date(until - Math.min(BEFORE_END_MS, life / 2));
}

export interface Refresher {
  /** Stores the refresh token of a login. */
  keep(issuer: LoginIssuer, person: LoggedIn): Promise<void>;
  /** Refreshes what is due, of all tenants. Safe to repeat, also by several processes at once. */
  refreshDue(): Promise<void>;
}

export function createRefresher({
  pool,
  sealer,
  issuers,
  isOpen,
  onError,
}: {
  readonly pool: Pool;
  readonly sealer: Sealer;
  readonly issuers: readonly LoginIssuer[];
  /** Whether a browser is logged in with the key. */
  readonly isOpen: (tenant: string, key: string) => Promise<boolean>;
  readonly onError: (row: RefreshRow, error: unknown) => void;
}): Refresher {
  async function keep({ settings }: LoginIssuer, { key, until, refreshToken }: LoggedIn): Promise<void> {
    if (refreshToken === undefined) return;
    const { issuer } = settings;
    await putRefresh(forTenant(pool, key.tenant_id), sealer, {
      person: key.id,
      issuer,
      token: refreshToken,
      due: dueBefore(until),
    });
  }

  async function refresh(row: RefreshRow): Promise<void> {
    const db = forTenant(pool, row.tenant_id);
    const issuer = issuers.find(({ settings }) => settings.issuer === row.issuer);
    if (!issuer || !(await isOpen(row.tenant_id, row.person_id))) return deleteRefresh(db, row);
    try {
      const token = sealer.open(row.sealed, refreshPlace(row.tenant_id, row.person_id));
      const person = await refreshLogin(issuer, pool, token);
      // A person who is another one now, or of another tenant, has to log in.
      if (person.key.id !== row.person_id || person.key.tenant_id !== row.tenant_id)
        return deleteRefresh(db, row);
      const next = { token: person.refreshToken, due: dueBefore(person.until) };
      return await replaceRefresh(db, sealer, row, next);
    } catch (error) {
      onError(row, error);
      const isFinal = error instanceof Failure && error.type !== 'Unavailable';
      // What may pass is tried again until the token ends. Then no browser is logged in any more.
      return isFinal ? deleteRefresh(db, row) : releaseRefresh(db, row);
    }
  }

  return {
    keep,
    async refreshDue() {
      await Promise.all((await takeDueRefreshes(pool)).map(refresh));
    },
  };
}
