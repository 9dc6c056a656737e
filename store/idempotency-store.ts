/** Idempotency-Key: which request has a key, and its stored answer. */
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

export interface IdempotencyState {
  /** The caller now has the key and must answer or release it. */
  readonly reserved: boolean;
  readonly request_hash: string | null;
  readonly status: number | null;
  readonly body: string | null;
  readonly headers: Record<string, string> | null;
}

/** All fields are null but `reserved` is false when another request took the key at the same moment. */
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
       returning 1)
     select exists (select 1 from mine) as reserved, k.request_hash, k.status, k.body, k.headers
     from (select 1) as one left join idempotency_keys k on k.tenant_id = ${db} and k.api_key_id = ${apiKey}
       and k.key = ${key}`;
  if (!row) throw new Error('reserving an idempotency key returned no row');
  return row;
}

/** Stores the first answer. */
export async function storeIdempotentAnswer(
  db: TenantDb,
  { apiKey, key, requestHash }: IdempotencyKey,
  answer: {
    readonly status: number;
    readonly body: string;
    readonly headers: Readonly<Record<string, string>>;
  },
): Promise<void> {
  await execute(db)`
    update idempotency_keys set status = ${answer.status}, body = ${answer.body},
      headers = ${JSON.stringify(answer.headers)}
     where tenant_id = ${db} and api_key_id = ${apiKey} and key = ${key} and request_hash = ${requestHash}
       and status is null`;
}

/** Releases a key whose request had no answer to store. */
export async function releaseIdempotencyKey(
  db: TenantDb,
  { apiKey, key, requestHash }: IdempotencyKey,
): Promise<void> {
  await execute(db)`delete from idempotency_keys
     where tenant_id = ${db} and api_key_id = ${apiKey} and key = ${key} and request_hash = ${requestHash}
       and status is null`;
}
