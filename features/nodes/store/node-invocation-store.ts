/**
 * Invocations of nodes, under the id of the tool call that makes them: written before they are sent, and answered once.
 * The change feed notifies those that wait for either.
 */
import { NODE_LIMITS } from '../contract/node.ts';
import type { NodeResult } from '../schema.ts';
import { noteChange } from '#store/postgres/change-feed.ts';
import { isConnected, nodePlace } from './node-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Sealer } from '#store/seal.ts';
import {
  affects,
  below,
  execute,
  type PageEnd,
  readRow,
  readRows,
  type RowOf,
} from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';

type Seal = Pick<Sealer, 'seal' | 'open'>;

interface NewInvocation {
  readonly id: string;
  readonly node: string;
  readonly session: string;
  readonly capability: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly seconds: number;
}

const place = (tenant: string, id: string, part: string): string =>
  `${tenant}/node_invocations/${id}/${part}`;

/** Returns whether it exists: false when the node has its maximum, or is gone. Safe to repeat. */
export function insertInvocation(
  pool: Pool,
  sealer: Seal,
  tenant: string,
  { id, node, session, capability, params, seconds }: NewInvocation,
): Promise<boolean> {
  return affects(pool)`
    with made as (
      insert into node_invocations (tenant_id, id, node_id, session_key, capability, sealed, expires_at)
      select ${tenant}, ${id}, n.id, ${session}, ${capability}, ${sealer.seal(JSON.stringify(params), place(tenant, id, 'params'))},
        now() + make_interval(secs => ${seconds})
      from nodes n where n.tenant_id = ${tenant} and n.id = ${node} and (
        select count(*) from node_invocations where tenant_id = ${tenant} and node_id = ${node}
          and status in ('waiting','sent') and expires_at > now()) < ${NODE_LIMITS.open}
      on conflict do nothing returning id),
    ${noteChange(tenant, 'nodes', 'made')}
    select from noted union all select from node_invocations where tenant_id = ${tenant} and id = ${id}`;
}

export type InvocationStatus = RowOf<'node_invocations'>['status'];

export interface InvocationState {
  readonly status: InvocationStatus;
  /** Milliseconds; less than 0 when its time is over. */
  readonly left: number;
  readonly result: NodeResult | undefined;
  /** Null when it was revoked. */
  readonly node: string | null;
  /** Since when its node is away. */
  readonly away: Date | null;
}

export async function readInvocation(
  pool: Pool,
  sealer: Seal,
  tenant: string,
  id: string,
): Promise<InvocationState | undefined> {
  const row = await readRow<Omit<InvocationState, 'result'> & { readonly result: string | null }>(pool)`
    select i.status, i.result, (extract(epoch from i.expires_at - now()) * 1000)::float8 as left, n.name as node,
      case when not ${isConnected} then n.seen_at end as away
    from node_invocations i left join nodes n on n.tenant_id = i.tenant_id and n.id = i.node_id
    where i.tenant_id = ${tenant} and i.id = ${id}`;
  if (!row) return undefined;
  const sealed = row.result;
  return {
    ...row,
    result:
      sealed === null
        ? undefined
        : (JSON.parse(sealer.open(sealed, place(tenant, id, 'result'))) as NodeResult),
  };
}

/**
 * Notes that nothing waits for it any more: if it was not sent, or certainly not received, it never will be. Returns
 * its end, however it ended.
 */
export async function giveUpInvocation(
  db: TenantDb,
  id: string,
  isUntaken = false,
): Promise<InvocationStatus | undefined> {
  await execute(db)`
    with ended as (
      update node_invocations set status = case when ${isUntaken} or status = 'waiting' then 'unsent' else 'unknown' end, ended_at = now()
      where tenant_id = ${db} and id = ${id} and status in ('waiting','sent') returning id),
    ${noteChange(db.tenant, 'nodes', 'ended')}
    select from noted`;
  const row = await readRow<{ status: InvocationStatus }>(db)`
    select status from node_invocations where tenant_id = ${db} and id = ${id}`;
  return row?.status;
}

export interface DueInvocation {
  readonly id: string;
  readonly capability: string;
  readonly params: Record<string, unknown>;
  readonly milliseconds: number;
}

/**
 * Takes what waits for the node of this connection, as far as it may have more at once. `again` also takes what was
 * sent to this journal and not answered, whatever became of the previous connection.
 */
export async function takeInvocations(
  pool: Pool,
  sealer: Seal,
  tenant: string,
  connection: string,
  again: boolean,
): Promise<DueInvocation[]> {
  const rows = await readRows<{ id: string; capability: string; sealed: string; left: number }>(pool)`
    with node as (
      select id, (about ->> 'journal')::uuid as journal from nodes
      where tenant_id = ${tenant} and connection = ${connection} for update),
    open as (
      select i.* from node_invocations i join node n on n.id = i.node_id
      where i.tenant_id = ${tenant} and i.status in ('waiting','sent') and i.expires_at > now()),
    sent as (select o.* from open o, node n where o.status = 'sent'),
    due as (
      select id from open where status = 'waiting' order by created_at
      limit greatest(0, ${NODE_LIMITS.atOnce} - (select count(*) from sent))),
    taken as (
      update node_invocations i set status = 'sent', sent_at = now(), journal = n.journal
      from node n, due where i.tenant_id = ${tenant} and i.id = due.id and i.status = 'waiting' returning i.*)
    select id, capability, sealed, (extract(epoch from expires_at - now()) * 1000)::float8 as left from (
      select * from taken
      union all select s.* from sent s, node n where ${again} and s.journal = n.journal) every
    order by created_at`;
  return rows.map(({ id, capability, sealed, left }) => ({
    id,
    capability,
    params: JSON.parse(sealer.open(sealed, place(tenant, id, 'params'))) as Record<string, unknown>,
    milliseconds: left,
  }));
}

/**
 * Notes that it is sent by a task queue; undefined if that is not how its node is reached, or it is over. Safe to
 * repeat. The result of a sent one may be requested when its time is over too, with `milliseconds` of 0 or less.
 */
export async function sendByQueue(pool: Pool, sealer: Seal, tenant: string, id: string) {
  const row = await readRow<{
    node: string;
    queue: string;
    sealedKey: string;
    capability: string;
    sealed: string;
    milliseconds: number;
  }>(pool)`
    update node_invocations i set status = 'sent', sent_at = coalesce(i.sent_at, now()) from nodes n
    where i.tenant_id = ${tenant} and i.id = ${id} and (i.status = 'sent' or i.status = 'waiting' and i.expires_at > now()) and i.journal is null
      and n.tenant_id = i.tenant_id and n.id = i.node_id and n.about ->> 'task_queue' is not null
    returning n.id as node, n.about ->> 'task_queue' as queue, n.sealed as "sealedKey", i.capability, i.sealed,
      ceil(extract(epoch from i.expires_at - now()) * 1000)::float8 as milliseconds`;
  if (!row) return undefined;
  const { sealed, sealedKey, ...due } = row;
  const key = Buffer.from(sealer.open(sealedKey, nodePlace(tenant, row.node)), 'base64');
  const params = JSON.parse(sealer.open(sealed, place(tenant, id, 'params'))) as Record<string, unknown>;
  return { ...due, key, params };
}

/** Records what a node reports about one of its own; the first report counts. */
export async function endInvocation(
  pool: Pool,
  sealer: Seal,
  tenant: string,
  node: string,
  id: string,
  result: NodeResult,
): Promise<void> {
  await execute(pool)`
    with ended as (
      update node_invocations set status = 'done', result = ${sealer.seal(JSON.stringify(result), place(tenant, id, 'result'))},
        ended_at = now()
      where tenant_id = ${tenant} and id = ${id} and node_id = ${node} and status in ('sent','unknown') returning id),
    ${noteChange(tenant, 'node_results', 'ended')}
    select from noted`;
}

/** Those of the running invocations that nothing waits for any more. */
export async function abandonedAt(db: TenantDb, ids: readonly string[]): Promise<string[]> {
  const rows = await readRows<{ id: string }>(db)`
    select id from node_invocations where tenant_id = ${db} and id = any (${[...ids]}) and status = 'unknown'`;
  return rows.map(({ id }) => id);
}

/** Invocations that were sent to this journal and are no longer wanted, while they may still run there. */
export async function abandonedInJournal(db: TenantDb, node: string, journal: string): Promise<string[]> {
  const rows = await readRows<{ id: string }>(db)`
    select id from node_invocations where tenant_id = ${db} and node_id = ${node} and journal = ${journal}
      and status = 'unknown' and expires_at > now()`;
  return rows.map(({ id }) => id);
}

export interface ListedInvocation extends RowOf<'node_invocations', 'sealed' | 'result'> {
  /** `created_at` with all its digits. */
  readonly time: string;
}

export function listInvocations(
  db: TenantDb,
  node: string,
  limit: number,
  after: PageEnd | undefined,
): Promise<ListedInvocation[]> {
  return readRows<ListedInvocation>(db)`
    select id, session_key, capability, status, created_at, sent_at, ended_at, created_at::text as time from node_invocations
    where tenant_id = ${db} and node_id = (select id from nodes where tenant_id = ${db} and name = ${node})
      ${below('created_at', 'id', after)} order by created_at desc, id limit ${limit}`;
}
