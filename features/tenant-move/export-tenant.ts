/**
 * Writes a still tenant into a sealed file. Its records are, in this order: the tenant, its objects in parts, the rows of
 * its tables, and an end that counts all of them.
 */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { holdStill, refuseThawed, type StillOptions } from './hold-still.ts';
import type { Installation } from './installation.ts';
import type { MovedObject } from './moved-objects.ts';
import { writeSealedFile } from './sealed-file.ts';
import { listTables } from './store/list-tables.ts';
import { inLongTransaction } from './store/long-transaction.ts';
import { greatestNumbers, type Identity } from './store/numbers.ts';
import { createTally, type MovedRow, readTable, type Tally } from './store/table-rows.ts';

export type MoveRecord =
  | { readonly kind: 'tenant'; readonly tenant: string; readonly schema: string }
  | ObjectRecord
  | { readonly kind: 'rows'; readonly table: string; readonly rows: readonly MovedRow[] }
  | ({ readonly kind: 'end' } & Contents);

/** A part of an object; the last has the digest of the whole. */
export interface ObjectRecord {
  readonly kind: 'object';
  /** The name of its MovedObjects. */
  readonly place: string;
  readonly object: MovedObject;
  /** Base64. */
  readonly data: string;
  readonly sha256?: string;
}

/** What the file contains. */
export interface Contents {
  readonly tables: Readonly<Record<string, Tally>>;
  readonly objects: Readonly<Record<string, Tally>>;
  /** The greatest number that Postgres has given in each table. */
  readonly identities: readonly Identity[];
}

/** Each part of an object has so many bytes at most. */
const PART_BYTES = 1_048_576;

export async function exportTenant(
  at: Installation,
  tenant: string,
  path: string,
  passphrase: string,
  options: StillOptions,
): Promise<Contents> {
  const since = await holdStill(at, tenant, options);
  let contents: Contents | undefined;
  await inLongTransaction(at.databaseUrl, 'read', (client) =>
    writeSealedFile(
      path,
      passphrase,
      recordsOf(at, client, tenant, async (counted) => {
        // The file must not be that of a tenant which goes on here.
        await refuseThawed(forTenant(at.pool, tenant), since);
        contents = counted;
      }),
    ),
  );
  if (!contents) throw new Error('the file was written without an end');
  return contents;
}

async function* recordsOf(
  at: Installation,
  client: pg.Client,
  tenant: string,
  onEnd: (contents: Contents) => Promise<void>,
): AsyncGenerator<MoveRecord> {
  yield { kind: 'tenant', tenant, schema: at.schema };
  const objects: Record<string, Tally> = {};
  for (const place of at.objects) {
    const tally = createTally();
    for await (const object of place.list(forTenant(at.pool, tenant))) {
      const digest = createHash('sha256');
      for await (const part of cut(place.read(tenant, object))) {
        digest.update(part);
        yield { kind: 'object', place: place.name, object, data: part.toString('base64') };
      }
      const sha256 = digest.digest('hex');
      tally.add([[object, sha256]]);
      yield { kind: 'object', place: place.name, object, data: '', sha256 };
    }
    objects[place.name] = tally.total;
  }
  const tables: Record<string, Tally> = {};
  const identities: Identity[] = [];
  for (const table of await listTables(client, at.rows)) {
    const tally = createTally();
    for await (const rows of readTable(client, table, tenant, at.sealer)) {
      tally.add(rows);
      yield { kind: 'rows', table: table.name, rows };
    }
    tables[table.name] = tally.total;
    identities.push(...(await greatestNumbers(client, table, tenant)));
  }
  const contents: Contents = { tables, objects, identities };
  await onEnd(contents);
  yield { kind: 'end', ...contents };
}

async function* cut(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const whole of bytes)
    for (let at = 0; at < whole.length; at += PART_BYTES) yield whole.subarray(at, at + PART_BYTES);
}
