/** What the runs over τ² become: merged results, and the tables of the page. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { mergeResults, readResults, tablesOf, type TauResult } from '../../../bench/tau2/report.ts';

function run(more: Partial<TauResult> = {}): TauResult {
  return {
    domain: 'airline',
    mode: 'probe',
    n: 43,
    calls: 148,
    writes: 55,
    kills: { api: 1, worker: 2, host: 3 },
    minutes: 2.8,
    outcomes: { right: 42, failed: 1 },
    equal: 42,
    doubled: 0,
    lost: 4,
    unknown: 5,
    otherwise: 6,
    found: 7,
    notFound: 8,
    examples: [],
    ...more,
  };
}

describe('the results of the runs over τ²', () => {
  it('keep what a later run did not measure, in the order of the table', () => {
    const before = { machine: 'old', runs: [run({ mode: 'retry' }), run({ domain: 'telecom' }), run()] };
    const merged = mergeResults(before, { machine: 'new', runs: [run({ n: 5 })] });
    assert.equal(merged.machine, 'new');
    assert.deepEqual(
      merged.runs.map(({ mode, domain, n }) => `${mode} ${domain} ${n}`),
      ['probe airline 5', 'probe telecom 43', 'retry airline 43'],
    );
  });
  it('are a row with each number', () => {
    assert.match(
      tablesOf({ machine: 'a', runs: [run()] }),
      /\| airline \| 43 \| \*\*42\*\* \| 55 \| 0 \| 4 \| 5 \| 6 of 148 \| 1 \| 7 \/ 8 \| 1 \/ 2 \/ 3 \| 2\.8 \|/,
    );
  });
  it('are those that the page shows', async () => {
    const page = await readFile(new URL('../../../docs/league.md', import.meta.url), 'utf8');
    assert.ok(page.includes(tablesOf(await readResults())), 'docs/league.md has other tables');
  });
});
