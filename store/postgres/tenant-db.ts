/**
 * Postgres for one tenant: a statement that does not name the tenant is not sent, so it cannot reach another tenant's
 * rows.
 */
import { type Expression, type KyselyPlugin, ValueNode } from 'kysely';
import { type Database, type Db, databaseOf, type Transaction } from './database.ts';
import type { Pool } from './pool.ts';

type Queries = Pick<
  Database,
  'selectFrom' | 'insertInto' | 'updateTable' | 'deleteFrom' | 'with' | 'getExecutor'
>;

/** In a statement (`where tenant_id = ${db}`) it is the tenant's id. */
export interface TenantDb<On extends Db = Pool> extends Queries, Expression<string> {
  readonly tenant: string;
  /** The same without the check, for statements that belong to no tenant, such as a lock. */
  readonly unbound: On;
}

export type TenantTx = TenantDb<Transaction>;

/**
 * Costs no round trip. A statement that names no value equal to the tenant's id rejects, which is a bug of its author.
 */
export function forTenant<On extends Db>(unbound: On, tenant: string): TenantDb<On> {
  const node = ValueNode.create(tenant);
  const plugin: KyselyPlugin = {
    transformQuery({ node: query }) {
      if (!hasValue(query, tenant)) throw new Error(`a statement does not name its tenant, "${tenant}"`);
      return query;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
  return Object.assign(databaseOf(unbound).withPlugin(plugin), {
    tenant,
    unbound,
    expressionType: undefined,
    toOperationNode: () => node,
  });
}

/** Whether a part of the query is this value, as one of its parameters. */
function hasValue(node: unknown, value: string): boolean {
  if (typeof node !== 'object' || node === null) return false;
  if (Array.isArray(node)) return node.some((part) => hasValue(part, value));
  if ('kind' in node && 'value' in node && node.kind === 'ValueNode') return node.value === value;
  if ('kind' in node && 'values' in node && node.kind === 'PrimitiveValueListNode')
    return Array.isArray(node.values) && node.values.includes(value);
  return Object.values(node).some((part) => hasValue(part, value));
}
