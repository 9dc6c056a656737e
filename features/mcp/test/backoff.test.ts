/** MC-1: when a lost connection is reopened, and how often a server is checked. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createBackoff, TIMING } from '../activities/backoff.ts';

describe('MC-1 the waits of a connection that is lost', () => {
  it('are 2 s, then twice as long up to a minute, ten attempts, and then five minutes', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
    const backoff = createBackoff(TIMING);
    let again = 0;
    const waits: number[] = [];
    for (let attempt = 1; attempt < 10; attempt += 1) {
      assert.equal(
        backoff.failed(() => (again += 1)),
        false,
      );
      const wait = backoff.waitMs();
      waits.push(wait / 1000);
      t.mock.timers.tick(wait - 1);
      assert.equal(again, attempt - 1);
      t.mock.timers.tick(1);
      assert.equal(again, attempt);
    }
    assert.deepEqual(waits, [2, 4, 8, 16, 32, 60, 60, 60, 60]);
    assert.equal(
      backoff.failed(() => (again += 1)),
      true,
      'the tenth is the last',
    );
    assert.equal(backoff.waitMs(), 300_000);
    t.mock.timers.tick(300_000);
    assert.equal(again, 9, 'nothing is tried again by itself then');
    backoff.failed(() => undefined);
    assert.equal(backoff.waitMs(), 2_000);
    backoff.end();
  });

  it('begin anew after a connection that lasted a minute, and not before', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
    const backoff = createBackoff(TIMING);
    backoff.failed(() => undefined);
    backoff.opened();
    t.mock.timers.tick(59_999);
    backoff.failed(() => undefined);
    assert.equal(backoff.waitMs(), 4_000);
    backoff.opened();
    t.mock.timers.tick(60_000);
    backoff.failed(() => undefined);
    assert.equal(backoff.waitMs(), 2_000);
    backoff.end();
  });

  it('and a server is looked at every 30 seconds', () => {
    assert.equal(TIMING.healthMs, 30_000);
  });
});
