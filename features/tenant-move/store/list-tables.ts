/** The tables whose rows are a tenant's, as the database itself lists them, in an order that references allow. */
import type { ClientBase } from 'pg';
import type { RowPart, SealedRows } from '#store/row-parts.ts';
import { movedRowsOf, type SealedColumn } from '../moved-rows.ts';

export interface MovedTable {
  readonly name: string;
  /** Without columns that Postgres generates. */
  readonly columns: readonly MovedColumn[];
  /** The column with the tenant's id. */
  readonly tenant: string;
  readonly sealed: readonly SealedColumn[];
}

export interface MovedColumn {
  readonly name: string;
  /** As SQL writes it. */
  readonly type: string;
  /** Postgres numbers it. */
  readonly is_identity: boolean;
}

const SECRETS: SealedRows = { table: 'secrets', place: `tenant_id || '/secrets/' || name` };

/** How a tenant is frozen is its installation's. */
const OWN_COLUMNS = ['frozen_at', 'frozen_for'];

export async function listTables(client: ClientBase, parts: readonly RowPart[]): Promise<MovedTable[]> {
  const moved = movedRowsOf(parts);
  const staying = moved.flatMap((one) => one.staying ?? []);
  const sealed = [
    ...[SECRETS, ...parts.flatMap(({ sealedRows = [] }) => sealedRows)].map(
      ({ table, place }): SealedColumn => ({ table, place, column: 'sealed', form: 'text' }),
    ),
    ...moved.flatMap((one) => one.sealed ?? []),
  ];
  const { rows } = await client.query<Pick<MovedTable, 'name' | 'columns' | 'tenant'>>(
    `select c.relname as name, case c.relname when 'tenants' then 'id' else 'tenant_id' end as tenant,
       json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
         'is_identity', a.attidentity <> '') order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and c.relname <> all ($1) and not (c.relname = 'tenants' and a.attname = any ($2))
       and (c.relname = 'tenants' or exists (select from pg_attribute t where t.attrelid = c.oid and t.attname = 'tenant_id'))
     group by c.relname order by c.relname`,
    [staying, OWN_COLUMNS],
  );
  const tables = rows.map((row) => ({ ...row, sealed: sealed.filter(({ table }) => table === row.name) }));
  return inOrder(tables, await listReferences(client));
}

interface Reference {
  readonly from: string;
  readonly to: string;
}

async function listReferences(client: ClientBase): Promise<Reference[]> {
  const { rows } = await client.query<Reference>(
    `select f.relname as from, t.relname as to from pg_constraint k
       join pg_class f on f.oid = k.conrelid join pg_class t on t.oid = k.confrelid
     where k.contype = 'f' and k.connamespace = current_schema()::regnamespace and f.oid <> t.oid`,
  );
  return rows;
}

/** Each table after those that it refers to. */
function inOrder(tables: readonly MovedTable[], references: readonly Reference[]): MovedTable[] {
  const ordered: MovedTable[] = [];
  const isMissing = (name: string): boolean =>
    tables.some((table) => table.name === name) && !ordered.some((table) => table.name === name);
  while (ordered.length < tables.length) {
    const next = tables.filter(
      ({ name }) => isMissing(name) && !references.some(({ from, to }) => from === name && isMissing(to)),
    );
    if (next.length === 0) throw new Error('tables refer to each other in a circle');
    ordered.push(...next);
  }
  return ordered;
}
