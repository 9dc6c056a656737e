/** Idempotency-Key: which request has a key, and its stored answer. */
import { sql } from 'kysely';
import { execute, readRow } from './postgres/statements.ts';
import type { TenantDb } from './postgres/tenant-db.ts';

/** A reservation without an answer is taken over after this time, because its process is gone. */
const TAKE_OVER_SECONDS = 60;
export const KEPT_HOURS = 24;

export interface IdempotencyKey {
  readonly apiKey: string;
  readonly key: string;
  readonly requestHash: string;
}

/** A key that the caller has reserved. */
export interface HeldIdempotencyKey extends IdempotencyKey {
  /** Identifies the reservation: one that was taken over is no longer its first owner's. */
  readonly since: string;
}

export interface IdempotencyState {
  /** If present, the caller now has the key and must answer or release it. */
  readonly since: string | null;
  readonly request_hash: string | null;
  readonly status: number | null;
  readonly body: string | null;
  readonly headers: Record<string, string> | null;
}

/** All fields are null when another request took the key at the same moment. */
export async function reserveIdempotencyKey(
  db: TenantDb,
  { apiKey, key, requestHash }: IdempotencyKey,
): Promise<IdempotencyState> {
  const row = await readRow<IdempotencyState>(db)`with mine as (
       insert into idempotency_keys as k (tenant_id, api_key_id, key, request_hash)
         values (${db}, ${apiKey}, ${key}, ${requestHash})
       on conflict (tenant_id, api_key_id, key) do update
         set request_hash = excluded.request_hash, status = null, body = null, headers = null, created_at = now()
         where k.created_at < now() - make_interval(hours => ${KEPT_HOURS})
           or (k.status is null and k.request_hash = excluded.request_hash
               and k.created_at < now() - make_interval(secs => ${TAKE_OVER_SECONDS}))
       returning created_at)
     select (select created_at::text from mine) as since, k.request_hash, k.status, k.body, k.headers
     from (select 1) as one left join idempotency_keys k on k.tenant_id = ${db} and k.api_key_id = ${apiKey}
       and k.key = ${key}`;
  if (!row) throw new Error('reserving an idempotency key returned no row');
  return row;
}

const isHeld = (db: TenantDb, { apiKey, key, requestHash, since }: HeldIdempotencyKey) =>
  sql`tenant_id = ${db} and api_key_id = ${apiKey} and key = ${key} and request_hash = ${requestHash}
       and created_at = ${since}::timestamptz and status is null`;

/** Stores the first answer, unless another request has taken the key over. */
export async function storeIdempotentAnswer(
  db: TenantDb,
  held: HeldIdempotencyKey,
  answer: {
    readonly status: number;
    readonly body: string;
    readonly headers: Readonly<Record<string, string>>;
  },
): Promise<void> {
  await execute(db)`
    update idempotency_keys set status = ${answer.status}, body = ${answer.body},
      headers = ${JSON.stringify(answer.headers)}
     where ${isHeld(db, held)}`;
}

/** Releases a key whose request had no answer to store, unless another request has taken it over. */
export async function releaseIdempotencyKey(db: TenantDb, held: HeldIdempotencyKey): Promise<void> {
  await execute(db)`delete from idempotency_keys where ${isHeld(db, held)}`;
}
