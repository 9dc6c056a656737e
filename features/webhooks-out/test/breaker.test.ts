/** DU-12: when an endpoint may be asked, and how much at once. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  afterAttempt,
  afterPause,
  type Breaker,
  ENDPOINT_PLACES,
  freePlaces,
  OPEN_AFTER,
  showBreaker,
  TENANT_PLACES,
} from '../breaker.ts';

const CLOSED: Breaker = { failures: 0, pace: ENDPOINT_PLACES };
const TIMES = { first: 5_000, longest: 300_000 };
const never = (): number => 0;

function afterFailures(count: number): Breaker & { readonly wait: number } {
  let breaker = { ...CLOSED, wait: 0 };
  for (let failure = 0; failure < count; failure += 1) breaker = afterAttempt(breaker, false, TIMES, never);
  return breaker;
}

describe('DU-12 the breaker of an endpoint', () => {
  it('opens after some failures in a row, and then waits twice as long each time, up to a bound', () => {
    assert.deepEqual(afterFailures(OPEN_AFTER - 1), { failures: 4, pace: ENDPOINT_PLACES, wait: 0 });
    const waits = [0, 1, 2, 3, 4, 5, 6, 7, 100].map((more) => afterFailures(OPEN_AFTER + more).wait);
    assert.deepEqual(
      waits,
      [5, 10, 20, 40, 80, 160, 300, 300, 300].map((seconds) => seconds * 1_000),
    );
    assert.equal(afterAttempt(afterFailures(OPEN_AFTER), false, TIMES, () => 1).wait, 11_000);
  });

  it('is closed by one success, and then allows one attempt more with each', () => {
    let breaker: Breaker = afterFailures(30);
    assert.equal(freePlaces(breaker, 0, { share: 100, tenant: 0 }), 1);
    assert.ok(freePlaces(breaker, 1, { share: 100, tenant: 1 }) <= 0);
    const paces = [];
    for (let success = 0; success < ENDPOINT_PLACES + 2; success += 1) {
      breaker = afterAttempt(breaker, true, TIMES, never);
      paces.push(breaker.pace);
    }
    assert.deepEqual(paces.slice(0, 4), [2, 3, 4, 5]);
    assert.deepEqual([breaker.failures, breaker.pace], [0, ENDPOINT_PLACES]);
  });

  it('is closed by an endpoint that says when to come again, which then begins with one attempt', () => {
    const paused = afterPause(60_000);
    assert.deepEqual(paused, { failures: 0, pace: 1, wait: 60_000 });
    assert.equal(freePlaces(paused, 0, { share: 100, tenant: 0 }), 1);
    assert.equal(afterAttempt(paused, true, TIMES, never).pace, 2);
  });

  it('leaves each endpoint one attempt, however much its tenant has under way elsewhere', () => {
    const busy = { share: 100, tenant: TENANT_PLACES };
    assert.equal(freePlaces(CLOSED, 0, busy), 1);
    assert.ok(freePlaces(CLOSED, 1, busy) <= 0);
    assert.equal(freePlaces(CLOSED, 15, { share: 100, tenant: 15 }), 5);
    assert.equal(freePlaces(CLOSED, 0, { share: 3, tenant: 0 }), 3);
  });

  it('is shown with its failures and its next attempt', () => {
    const later = new Date(Date.now() + 3_600_000);
    const before = new Date(0);
    assert.deepEqual(showBreaker({ failures: 4, retry_at: before }), {
      state: 'closed',
      failures: 4,
      next_attempt_at: null,
    });
    assert.deepEqual(showBreaker({ failures: 5, retry_at: later }), {
      state: 'open',
      failures: 5,
      next_attempt_at: later,
    });
    assert.equal(showBreaker({ failures: 5, retry_at: before }).state, 'half-open');
  });
});
