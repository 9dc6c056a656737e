/**
 * DU-2, F2: the expected actions of τ² with kills at random leave the database that τ² calls gold. One task of each domain,
 * that with the most calls; all are run by hand.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { skipWithoutTau2 } from '../../../bench/tau2/python.ts';
import { runDomain } from '../../../bench/tau2/run.ts';
import { DOMAINS } from '../../../bench/tau2/service.ts';

const skip = await skipWithoutTau2();

describe('DU-2 F2 tasks of τ² under kill -9', { timeout: 900_000, skip }, () => {
  for (const domain of DOMAINS)
    it(`of ${domain} end with the database of gold, each call made once and answered as gold answers`, async (t) => {
      const { kills, n, outcomes, ...found } = await runDomain({
        domain,
        mode: 'probe',
        limit: 1,
        killMs: 2_000,
        delayMs: 400,
        log: (text) => t.diagnostic(text),
      });
      assert.ok(kills.api + kills.worker + kills.host > 0, 'nothing was killed');
      assert.equal(n, 1);
      assert.deepEqual(outcomes, { right: 1 }, found.examples.join('\n'));
      const { equal, doubled, lost, unknown, otherwise } = found;
      assert.deepEqual(
        { equal, doubled, lost, unknown, otherwise },
        { equal: 1, doubled: 0, lost: 0, unknown: 0, otherwise: 0 },
      );
    });
});
