/**
 * Brings a tenant from a sealed file into this installation: the whole file is checked first, then objects are written,
 * then all rows in one transaction, which is committed when counts and digests are those of the file. Until the tenant
 * goes on, it is frozen here. A repeat after a crash at any point does what is missing.
 */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { CliError } from '#cli/cli-error.ts';
import { isName } from '#domain/ids.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { readFreeze } from '#store/tenant-freeze.ts';
import type { Contents, MoveRecord, ObjectRecord } from './export-tenant.ts';
import { goOn } from './go-on.ts';
import type { Installation } from './installation.ts';
import type { MovedObject, MovedObjects } from './moved-objects.ts';
import { type OpenedFile, openSealedFile } from './sealed-file.ts';
import { listTables } from './store/list-tables.ts';
import { inLongTransaction } from './store/long-transaction.ts';
import { keepNumbers } from './store/numbers.ts';
import { createTally, readTable, type Tally, writeFrozen, writeRows } from './store/table-rows.ts';

export interface Imported {
  readonly tenant: string;
  readonly contents: Contents;
  /** Sessions and tasks that go on. */
  readonly started: number;
}

/** @throws CliError; then nothing of the tenant is visible here */
export async function importTenant(at: Installation, path: string, passphrase: string): Promise<Imported> {
  const file = await openSealedFile(path, passphrase);
  const { tenant, contents } = await checkFile(at, file, path);
  const why = `it is being moved here (file ${file.id})`;
  const existing = await readFreeze(forTenant(at.pool, tenant));
  if (existing && existing.frozen_for !== why) throw existsAlready(tenant);
  if (!existing) {
    at.report(
      `${path} is complete: ${countOf(contents.tables)} rows and ${countOf(contents.objects)} objects.`,
    );
    await writeObjects(at, file, tenant);
    at.report('The objects are there.');
    for (const numbers of contents.identities)
      await inLongTransaction(at.databaseUrl, 'write', (client) => keepNumbers(client, numbers));
    await writeAllRows(at, file, tenant, contents, why);
    at.report('The rows are there, and are those of the file.');
  }
  return { tenant, contents, started: await goOn(at, tenant) };
}

function existsAlready(tenant: string): CliError {
  return new CliError(`There is a tenant ${tenant} here already; nothing was imported.`, {
    code: 'Conflict',
    remedy: 'Import it into an installation that has no tenant of this name.',
  });
}

export function countOf(tallies: Readonly<Record<string, Tally>>): number {
  return Object.values(tallies).reduce((sum, { count }) => sum + count, 0);
}

/** Reads all of it, and compares it with its end and with this installation. Writes nothing. */
async function checkFile(
  at: Installation,
  file: OpenedFile,
  path: string,
): Promise<{ readonly tenant: string; readonly contents: Contents }> {
  const tables = createTallies();
  const objects = createTallies();
  let tenant: string | undefined;
  let end: Contents | undefined;
  for await (const record of file.records() as AsyncIterable<MoveRecord>) {
    if (record.kind === 'tenant') tenant = checkedTenant(at, record);
    else if (record.kind === 'rows') tables.add(record.table, record.rows);
    else if (record.kind === 'end') end = record;
    else if (record.sha256 !== undefined) objects.add(record.place, [[record.object, record.sha256]]);
  }
  if (tenant === undefined || !end)
    throw new CliError(`${path} has no beginning or no end; nothing was imported.`);
  requireSame('table', end.tables, tables.totals());
  requireSame('place', end.objects, objects.totals());
  for (const [place, { count }] of Object.entries(end.objects))
    if (count > 0 && !at.objects.some(({ name }) => name === place))
      throw new CliError(`The file has ${count} ${place}, and the settings here name no place for them.`, {
        code: 'NoPlace',
        remedy: 'Set it as the other installation has it, and import again.',
      });
  return { tenant, contents: end };
}

function checkedTenant(at: Installation, record: Extract<MoveRecord, { kind: 'tenant' }>): string {
  if (!isName(record.tenant)) throw new CliError('The file names no tenant.');
  if (record.schema === at.schema) return record.tenant;
  throw new CliError(
    `The tenant was exported by ${record.schema}, and this is ${at.schema}; nothing was imported.`,
    { code: 'Schema', remedy: 'Run the same version of TempoClaw in both installations, and export again.' },
  );
}

function createTallies() {
  const tallies = new Map<string, ReturnType<typeof createTally>>();
  return {
    add(name: string, rows: readonly unknown[]): void {
      const tally = tallies.get(name) ?? createTally();
      tallies.set(name, tally);
      tally.add(rows);
    },
    totals: () => Object.fromEntries([...tallies].map(([name, { total }]) => [name, total])),
  };
}

const NOTHING: Tally = createTally().total;

function requireSame(
  what: string,
  expected: Readonly<Record<string, Tally>>,
  actual: Readonly<Record<string, Tally>>,
): void {
  for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const [one, other] = [expected[name] ?? NOTHING, actual[name] ?? NOTHING];
    if (one.count === other.count && one.digest === other.digest) continue;
    throw new CliError(
      `The ${what} ${name} has ${other.count} entries that are not the ${one.count} of the export; nothing was imported.`,
      { code: 'Different', remedy: 'Export the tenant again.' },
    );
  }
}

/** Each is read again after it was written. */
async function writeObjects(at: Installation, file: OpenedFile, tenant: string): Promise<void> {
  const records = objectRecords(file);
  for (let next = await records.next(); !next.done; next = await records.next()) {
    const { place: name, object } = next.value;
    const place = at.objects.find((one) => one.name === name);
    if (!place) throw new Error(`no place for ${name}`);
    let sha256: string | undefined;
    const parts = partsOf(next.value, records, (digest) => {
      sha256 = digest;
    });
    await place.write(tenant, object, parts);
    // A folder has no bytes to read.
    for await (const _ of parts) continue;
    await compareObject(place, tenant, object, sha256);
  }
}

async function* objectRecords(file: OpenedFile): AsyncGenerator<ObjectRecord, undefined> {
  for await (const record of file.records() as AsyncIterable<MoveRecord>) {
    if (record.kind === 'object') yield record;
    // Rows come after all objects.
    if (record.kind === 'rows') return undefined;
  }
  return undefined;
}

/** The bytes of one object, whose last record has its digest. */
async function* partsOf(
  first: ObjectRecord,
  records: AsyncIterator<ObjectRecord, undefined>,
  onEnd: (sha256: string) => void,
): AsyncGenerator<Buffer> {
  for (let record: ObjectRecord | undefined = first; record; record = (await records.next()).value) {
    if (record.sha256 !== undefined) return onEnd(record.sha256);
    yield Buffer.from(record.data, 'base64');
  }
}

async function compareObject(
  place: MovedObjects,
  tenant: string,
  object: MovedObject,
  sha256: string | undefined,
): Promise<void> {
  const digest = createHash('sha256');
  for await (const part of place.read(tenant, object)) digest.update(part);
  if (digest.digest('hex') === sha256) return;
  throw new CliError(`${object.key} of the ${place.name} is not what was written.`, {
    code: 'Different',
    remedy: 'See to the store of objects, and import again.',
  });
}

async function writeAllRows(
  at: Installation,
  file: OpenedFile,
  tenant: string,
  { tables: expected }: Contents,
  why: string,
): Promise<void> {
  await inLongTransaction(at.databaseUrl, 'write', async (client) => {
    const tables = await listTables(client, at.rows);
    const byName = new Map(tables.map((table) => [table.name, table]));
    for await (const record of file.records() as AsyncIterable<MoveRecord>) {
      if (record.kind !== 'rows') continue;
      const table = byName.get(record.table);
      if (!table) throw new CliError(`There is no table ${record.table} here.`, { code: 'Schema' });
      await writeRows(client, table, record.rows, at.sealer).catch(refuseTaken(tenant, record.table));
    }
    const actual = createTallies();
    for (const table of tables)
      for await (const rows of readTable(client, table, tenant, at.sealer)) actual.add(table.name, rows);
    requireSame('table', expected, actual.totals());
    await writeFrozen(client, tenant, why);
  });
}

const UNIQUE_VIOLATION = '23505';

/** Another import was first, or a key or link that is unique in the whole database is another tenant's here. */
function refuseTaken(tenant: string, table: string): (error: unknown) => never {
  return (error) => {
    const isTaken = error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION;
    if (!isTaken) throw error;
    if (table === 'tenants') throw existsAlready(tenant);
    throw new CliError(
      `Rows of ${table} are here already, as another tenant's: ${(error as pg.DatabaseError).detail ?? ''}`,
      {
        code: 'Conflict',
      },
    );
  };
}
