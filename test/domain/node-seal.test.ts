/** TL nodes: what goes to a node by way of Temporal is opened by whoever has its token, and as what it was sealed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openFromNode, sealForNode } from '#domain/node-seal.ts';

const HASH = new Uint8Array(32).fill(7);
const IV = new Uint8Array(12).fill(9);
const seal = () => sealForNode(HASH, 'node/t/c/asked', IV, { path: 'täglich.csv' });

describe('TL what is sealed for a node', () => {
  it('is opened under the hash of its token', async () => {
    assert.deepEqual(await openFromNode(HASH, 'node/t/c/asked', await seal()), { path: 'täglich.csv' });
    assert.doesNotMatch(Buffer.from(await seal()).toString('utf8'), /csv/);
  });

  it('is opened under no other, nor as something else, nor when it was changed', async () => {
    const other = new Uint8Array(32).fill(8);
    await assert.rejects(openFromNode(other, 'node/t/c/asked', await seal()));
    await assert.rejects(openFromNode(HASH, 'node/t/c/result', await seal()));
    await assert.rejects(openFromNode(HASH, 'node/t/d/asked', await seal()));
    const changed = await seal();
    changed[20] = (changed[20] ?? 0) ^ 1;
    await assert.rejects(openFromNode(HASH, 'node/t/c/asked', changed));
  });
});
