/**
 * DU-2, F2: at each point of the league, TempoClaw pays at most once and says when it does not know. One turn a point; the
 * other sides are measured by hand.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runLeague } from '../../../bench/league/main.ts';
import { POINTS } from '../../../bench/league/points.ts';
import { TEMPOCLAW, TEMPOCLAW_CHECKED } from '../../../bench/league/tempoclaw.ts';

const points = POINTS.map(({ id }) => id);

describe('DU-2 F2 the league, with TempoClaw alone', { timeout: 900_000 }, () => {
  it('pays nothing twice, loses nothing, and brings every turn back', async (t) => {
    const { sides } = await runLeague({
      sides: [TEMPOCLAW],
      points,
      n: 1,
      batch: 1,
      log: (text) => t.diagnostic(text),
    });
    const found = sides[0]?.points ?? {};
    assert.deepEqual(Object.keys(found), points);
    for (const [point, { n, counts }] of Object.entries(found)) {
      assert.equal(n, 1, point);
      assert.equal(
        (counts.right ?? 0) + (counts.unknown ?? 0),
        1,
        `${point}: ${JSON.stringify(found[point])}`,
      );
    }
    assert.deepEqual(found['after']?.counts, { unknown: 1 });
    assert.match(found['after']?.words.unknown ?? '', /unknown/i);
  });
  it('pays exactly once where a probe can tell', async (t) => {
    const { sides } = await runLeague({
      sides: [TEMPOCLAW_CHECKED],
      points: ['in'],
      n: 2,
      batch: 2,
      log: (text) => t.diagnostic(text),
    });
    for (const [point, { counts, words }] of Object.entries(sides[0]?.points ?? {}))
      assert.deepEqual(counts, { right: 2 }, `${point}: ${JSON.stringify(words)}`);
  });
});
