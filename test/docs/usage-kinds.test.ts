/** DU-7: the page about budgets explains each kind of use that `/v1/usage` tells apart. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { MODEL_USE_KINDS } from '#domain/budget/model-use.ts';

it('DU-7 docs/budgets.md has each kind of use', async () => {
  const [, table = ''] = (await readFile('docs/budgets.md', 'utf8')).split('| `kind` |');
  const kinds = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, kind]) => kind);
  assert.deepEqual(kinds.toSorted(), ['answer', ...MODEL_USE_KINDS].toSorted());
});
