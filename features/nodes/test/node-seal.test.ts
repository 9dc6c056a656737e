/** What goes to a node through Temporal can be opened with its token, and only as what it was sealed as. */
import assert from 'node:assert/strict';
import { createHash, hkdfSync } from 'node:crypto';
import { describe, it } from 'node:test';
import { nodeKeyOf, openFromNode, sealForNode } from '../contract/node-seal.ts';

const KEY = new Uint8Array(32).fill(7);
const IV = new Uint8Array(12).fill(9);
const seal = () => sealForNode(KEY, 'node/t/c/asked', IV, { path: 'täglich.csv' });

describe('TL what is sealed for a node', () => {
  it('has a key that follows from the token, and not from its hash', async () => {
    const key = await nodeKeyOf('tcn_x');
    assert.deepEqual(key, await nodeKeyOf('tcn_x'));
    assert.deepEqual(Buffer.from(key), Buffer.from(hkdfSync('sha256', 'tcn_x', '', 'node-seal', 32)));
    assert.notDeepEqual(Buffer.from(key), createHash('sha256').update('tcn_x').digest());
  });

  it('is opened under the key of its token', async () => {
    assert.deepEqual(await openFromNode(KEY, 'node/t/c/asked', await seal()), { path: 'täglich.csv' });
    assert.doesNotMatch(Buffer.from(await seal()).toString('utf8'), /csv/);
  });

  it('is opened under no other, nor as something else, nor when it was changed', async () => {
    const other = new Uint8Array(32).fill(8);
    await assert.rejects(openFromNode(other, 'node/t/c/asked', await seal()));
    await assert.rejects(openFromNode(KEY, 'node/t/c/result', await seal()));
    await assert.rejects(openFromNode(KEY, 'node/t/d/asked', await seal()));
    const changed = await seal();
    changed[20] = (changed[20] ?? 0) ^ 1;
    await assert.rejects(openFromNode(KEY, 'node/t/c/asked', changed));
  });
});
