/** What goes through Temporal can be opened with its key, and only as what it was sealed as. */
import assert from 'node:assert/strict';
import { createHash, hkdfSync } from 'node:crypto';
import { describe, it } from 'node:test';
import { deriveSealKey, openPayload, sealPayload } from '#domain/payload-seal.ts';

const KEY = new Uint8Array(32).fill(7);
const IV = new Uint8Array(12).fill(9);
const seal = () => sealPayload(KEY, 'node/t/c/asked', IV, { path: 'täglich.csv' });

describe('TL a sealed payload', () => {
  it('has a key that follows from the credential and its purpose, and not from the hash', async () => {
    const key = await deriveSealKey('tcn_x', 'node-seal');
    assert.deepEqual(key, await deriveSealKey('tcn_x', 'node-seal'));
    assert.deepEqual(Buffer.from(key), Buffer.from(hkdfSync('sha256', 'tcn_x', '', 'node-seal', 32)));
    assert.notDeepEqual(Buffer.from(key), createHash('sha256').update('tcn_x').digest());
  });

  it('is opened under its key', async () => {
    assert.deepEqual(await openPayload(KEY, 'node/t/c/asked', await seal()), { path: 'täglich.csv' });
    assert.doesNotMatch(Buffer.from(await seal()).toString('utf8'), /csv/);
  });

  it('is opened under no other, nor as something else, nor when it was changed', async () => {
    const other = new Uint8Array(32).fill(8);
    await assert.rejects(openPayload(other, 'node/t/c/asked', await seal()));
    await assert.rejects(openPayload(KEY, 'node/t/c/result', await seal()));
    await assert.rejects(openPayload(KEY, 'node/t/d/asked', await seal()));
    const changed = await seal();
    changed[20] = (changed[20] ?? 0) ^ 1;
    await assert.rejects(openPayload(KEY, 'node/t/c/asked', changed));
  });
});
