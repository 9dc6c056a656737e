/**
 * Appends to a tenant's chain what has become final, and signs its head: one transaction, safe to repeat, one at a time
 * for each tenant.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { Failure } from '#domain/errors.ts';
import type { Sealer } from '#store/seal.ts';
import type { TenantDb, TenantTx } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import {
  digestOf,
  type Head,
  hashLink,
  isSigned,
  rangesOf,
  type Removal,
  START,
  signedText,
} from './chain.ts';
import {
  type HeadRow,
  insertEntries,
  lockChain,
  type NewEntry,
  readDigests,
  readHead,
  readPending,
  readRemovals,
  removePending,
  writeHead,
} from './store.ts';

const SALT_BYTES = 16;

/** The place that the private key is sealed for. */
export function keyPlace(tenant: string): string {
  return `${tenant}/evidence_heads`;
}

/**
 * Appends at most one batch. Resolves with how many rows were taken; 0 when none wait, the tenant is frozen, or, unless
 * `waits`, somebody else appends. @throws Failure Conflict when the chain is not as it was left
 */
export function appendBatch(db: TenantDb, sealer: Sealer, waits: boolean): Promise<number> {
  return inTransaction(db, async (tx) => {
    const at = await lockChain(tx, waits);
    if (!at) return 0;
    const pending = await readPending(tx);
    const removals = await readRemovals(tx);
    if (pending.length + removals.length === 0) return 0;
    const found = await readHead(tx);
    const key = openKey(sealer, db.tenant, found);
    const entries = await makeEntries(tx, { pending, removals, at, from: key.head });
    await removePending(tx, pending, removals);
    const last = entries.at(-1);
    if (last) {
      await insertEntries(tx, entries);
      const head = { tenant: db.tenant, seq: last.seq, hash: last.hash, at: at.toISOString() };
      const signature = sign(null, signedText(head), key.privateKey).toString('base64');
      await writeHead(tx, { ...head, signature, public_key: key.public_key }, key.sealed, sealer.keyId);
    }
    return pending.length + removals.length;
  });
}

interface Batch {
  readonly pending: Awaited<ReturnType<typeof readPending>>;
  readonly removals: Awaited<ReturnType<typeof readRemovals>>;
  readonly at: Date;
  readonly from: Pick<Head, 'seq' | 'hash'>;
}

/** In the order of the chain. Rows that another program wrote, and rows that are in it, get none. */
async function makeEntries(tx: TenantTx, { pending, removals, at, from }: Batch): Promise<NewEntry[]> {
  const time = at.toISOString();
  const entries: NewEntry[] = [];
  let { seq, hash: previous } = from;
  const add = (entry: Pick<NewEntry, 'kind' | 'subject' | 'part' | 'digest' | 'salt' | 'content'>): void => {
    seq += 1;
    const link = { seq, kind: entry.kind, digest: entry.digest, previous, at: time };
    const hash = hashLink(link);
    entries.push({ ...entry, ...link, hash });
    previous = hash;
  };
  const addOwn = (kind: string, value: object): void => {
    const [salt, content] = [makeSalt(), JSON.stringify(value)];
    add({ kind, subject: null, part: '', digest: digestOf(salt, content), salt, content });
  };
  const own = pending.filter(({ is_own }) => is_own).map((row) => ({ ...row, salt: makeSalt() }));
  for (const { kind, subject, part, salt, digest } of await readDigests(tx, own))
    if (digest === null) addOwn('lost', { kind, subject, part });
    else add({ kind, subject, part, digest, salt, content: null });
  for (const { seqs, why } of removals) addOwn('forgotten', { seqs: rangesOf(seqs), why } satisfies Removal);
  return entries;
}

function makeSalt(): string {
  return randomBytes(SALT_BYTES).toString('hex');
}

/** The key and the end of the chain; a new key for a chain that begins. */
function openKey(sealer: Sealer, tenant: string, found: HeadRow | undefined) {
  if (!found) {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const der = privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64');
    return {
      privateKey,
      public_key: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
      sealed: sealer.seal(der, keyPlace(tenant)),
      head: { seq: 0, hash: START },
    };
  }
  const der = Buffer.from(sealer.open(found.sealed, keyPlace(tenant)), 'base64');
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const public_key = createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64');
  const { sealed, ...head } = found;
  if (!isSigned({ ...head, public_key }))
    throw new Failure(
      'Conflict',
      `the head of the evidence of ${tenant} is not as TempoClaw signed it, so the chain does not go on; verify an export of it`,
    );
  return { privateKey, public_key, sealed, head };
}
