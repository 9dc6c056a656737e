/** A tenant's chain as lines of JSON, in pages, so that its length needs no memory. */
import { isTransient, type Pool } from '#store/postgres/pool.ts';
import type { Sealer } from '#store/seal.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { appendBatch } from './append.ts';
import {
  type EndLine,
  type EntryLine,
  FORMAT,
  type HeaderLine,
  type UnchainedLine,
  VERSION,
} from './chain.ts';
import { readEntries, readHead, readUnchained } from './store.ts';

/**
 * Appends what waits at first, and once more at the end: an entry that was read without its content may have been
 * forgotten since the first, and the entry that says so must be among those that follow.
 */
export async function* exportLines(pool: Pool, sealer: Sealer, tenant: string): AsyncGenerator<string> {
  const db = forTenant(pool, tenant);
  await appendAll(pool, sealer, tenant);
  const first = await readHead(db);
  yield line({
    format: FORMAT,
    version: VERSION,
    tenant,
    public_key: first?.public_key ?? null,
  } satisfies HeaderLine);
  let last = 0;
  let entries = 0;
  const readOn = async function* (): AsyncGenerator<string> {
    for (;;) {
      const page = await readEntries(db, last);
      if (page.length === 0) return;
      yield page.map(line).join('');
      entries += page.length;
      last = page.at(-1)?.seq ?? last;
    }
  };
  yield* readOn();
  await appendAll(pool, sealer, tenant);
  let head = await readHead(db);
  while (head && head.seq > last) {
    const before = last;
    yield* readOn();
    // The end of the chain is missing; the head shows that.
    if (last === before) break;
    head = await readHead(db);
  }
  for (const unchained of await readUnchained(db)) yield line({ unchained } satisfies UnchainedLine);
  const { sealed: _sealed, ...shown } = head ?? { sealed: '' };
  yield line({ entries, head: 'seq' in shown ? shown : null } satisfies EndLine);
}

/** A chain that is not as it was left is exported as it is: the verifier names what was done to it. */
async function appendAll(pool: Pool, sealer: Sealer, tenant: string): Promise<void> {
  try {
    while ((await appendBatch(forTenant(pool, tenant), sealer, true)) > 0);
  } catch (error) {
    if (isTransient(error)) throw error;
  }
}

function line(value: HeaderLine | EntryLine | UnchainedLine | EndLine): string {
  return `${JSON.stringify(value)}\n`;
}
