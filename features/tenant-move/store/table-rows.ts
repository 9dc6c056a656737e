/**
 * Reads and writes a tenant's rows of any table. Each value is text, as Postgres writes and reads its type, so that
 * nothing is lost on the way. Sealed values are opened here, and sealed again with the key of the other installation.
 */
import { createHash } from 'node:crypto';
import type { ClientBase } from 'pg';
import pg from 'pg';
import type { Sealer } from '#store/seal.ts';
import type { MovedTable } from './list-tables.ts';
import type { SealedColumn } from '../moved-rows.ts';

/** The values of the columns in their order, then the places of sealed values. */
export type MovedRow = readonly (string | null)[];

/** About so many characters are read or written at once. */
const BATCH_CHARACTERS = 2_000_000;
const BATCH_ROWS = 1_000;

/** All rows of the tenant, some at a time, with their secrets in clear. `client` is in a transaction. */
export async function* readTable(
  client: ClientBase,
  { name, columns, tenant: key, sealed }: MovedTable,
  tenant: string,
  sealer: Pick<Sealer, 'open'>,
): AsyncGenerator<MovedRow[]> {
  const values = columns.map((column) => `${pg.escapeIdentifier(column.name)}::text`);
  const places = sealed.map(({ place }) => place);
  await client.query(
    `declare moved no scroll cursor for select ${[...values, ...places].join(', ')} from ${name}
     where ${key} = ${pg.escapeLiteral(tenant)}`,
  );
  const isKeyId = columns.findIndex((column) => column.name === 'key_id' && sealed.length > 0);
  for (let count = 1; ; ) {
    const { rows } = await client.query<(string | null)[]>({
      text: `fetch ${count} from moved`,
      rowMode: 'array',
    });
    if (rows.length === 0) break;
    yield rows.map((row) => opened(row, { name, columns, sealed }, isKeyId, sealer));
    const length = rows.reduce(
      (sum, row) => sum + row.reduce((all, value) => all + (value?.length ?? 0), 1),
      0,
    );
    const fitting = Math.floor((BATCH_CHARACTERS * rows.length) / length);
    count = Math.min(Math.max(fitting, 1), count * 4, BATCH_ROWS);
  }
  await client.query('close moved');
}

type Sealed = Pick<MovedTable, 'name' | 'columns' | 'sealed'>;

function opened(
  row: (string | null)[],
  table: Sealed,
  keyId: number,
  sealer: Pick<Sealer, 'open'>,
): MovedRow {
  // The id of the key says nothing elsewhere.
  if (keyId >= 0 && row[keyId] !== null) row[keyId] = '';
  changeSealed(row, table, (text, place, form) => {
    if (form === 'bytes') return sealer.open(Buffer.from(text.slice(2), 'hex').toString('base64'), place);
    return form === 'text'
      ? sealer.open(text, place)
      : changeCalls(text, (value) => sealer.open(value, place));
  });
  return row;
}

function resealed(row: MovedRow, table: Sealed, keyId: number, sealer: Sealer): (string | null)[] {
  const values = [...row];
  if (keyId >= 0 && values[keyId] !== null) values[keyId] = sealer.keyId;
  changeSealed(values, table, (text, place, form) => {
    if (form === 'bytes') return `\\x${Buffer.from(sealer.seal(text, place), 'base64').toString('hex')}`;
    return form === 'text'
      ? sealer.seal(text, place)
      : changeCalls(text, (value) => sealer.seal(value, place));
  });
  return values;
}

function changeSealed(
  row: (string | null)[],
  { name, columns, sealed }: Sealed,
  change: (text: string, place: string, form: SealedColumn['form']) => string,
): void {
  for (const [index, { column, form }] of sealed.entries()) {
    const at = columns.findIndex((one) => one.name === column);
    const [text, place] = [row[at], row[columns.length + index]];
    if (!text || !place) continue;
    try {
      row[at] = change(text, place, form);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`${name}.${column} at ${place}: ${why}`, { cause: error });
    }
  }
}

/** Calls without sealed arguments stay as they are, to the letter. */
function changeCalls(text: string, change: (sealed: string) => string): string {
  if (!text.includes('"sealed"')) return text;
  const calls = JSON.parse(text) as { readonly sealed?: unknown }[];
  return JSON.stringify(
    calls.map((call) => (typeof call.sealed === 'string' ? { ...call, sealed: change(call.sealed) } : call)),
  );
}

/** `client` is in a transaction. */
export async function writeRows(
  client: ClientBase,
  { name, columns, sealed }: MovedTable,
  rows: readonly MovedRow[],
  sealer: Sealer,
): Promise<void> {
  const keyId = columns.findIndex((column) => column.name === 'key_id' && sealed.length > 0);
  const written = rows.map((row) => resealed(row, { name, columns, sealed }, keyId, sealer));
  const names = columns.map((column) => pg.escapeIdentifier(column.name));
  await client.query(
    `insert into ${name} (${names.join(', ')}) overriding system value
     select ${columns.map(({ type }, at) => `v${at}::${type}`).join(', ')}
     from unnest(${columns.map((_, at) => `$${at + 1}::text[]`).join(', ')}) as u (${columns.map((_, at) => `v${at}`).join(', ')})`,
    columns.map((_, at) => written.map((row) => row[at] ?? null)),
  );
}

/** How a tenant that comes is frozen, in the transaction of its rows. */
export async function writeFrozen(client: ClientBase, tenant: string, why: string): Promise<void> {
  await client.query('update tenants set frozen_at = clock_timestamp(), frozen_for = $2 where id = $1', [
    tenant,
    why,
  ]);
}

/** The number of rows, and a digest of them that does not depend on their order, which databases choose. */
export interface Tally {
  readonly count: number;
  readonly digest: string;
}

const MODULUS = 1n << 256n;

export function createTally(): { add(rows: readonly unknown[]): void; readonly total: Tally } {
  let count = 0;
  let sum = 0n;
  return {
    add(rows) {
      for (const row of rows) {
        const digest = createHash('sha256').update(JSON.stringify(row)).digest('hex');
        sum = (sum + BigInt(`0x${digest}`)) % MODULUS;
      }
      count += rows.length;
    },
    get total() {
      return { count, digest: sum.toString(16).padStart(64, '0') };
    },
  };
}
