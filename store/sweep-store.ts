/** The last look of each part of the sweep. It belongs to no tenant. */
import type { Pool } from './postgres/pool.ts';
import { execute, readRows } from './postgres/statements.ts';

export interface SweepRow {
  readonly part: string;
  readonly ended_at: Date;
  readonly found: number;
  readonly failed: number;
}

/** Safe to repeat. */
export async function recordSweepPart(
  pool: Pool,
  { part, found, failed }: Omit<SweepRow, 'ended_at'>,
): Promise<void> {
  await execute(
    pool,
  )`insert into sweep_parts (part, ended_at, found, failed) values (${part}, now(), ${found}, ${failed})
    on conflict (part) do update set ended_at = now(), found = excluded.found, failed = excluded.failed`;
}

export function listSweepParts(pool: Pool): Promise<SweepRow[]> {
  return readRows<SweepRow>(pool)`select part, ended_at, found, failed from sweep_parts order by part`;
}

/** Bytes of the whole database. */
export async function databaseBytes(pool: Pool): Promise<number> {
  const [row] = await readRows<{ readonly bytes: number }>(
    pool,
  )`select pg_database_size(current_database())::float8 as bytes`;
  return row?.bytes ?? 0;
}
