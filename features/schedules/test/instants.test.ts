/** cron: when an expression runs, in zones whose clocks change; what users type; what is refused. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Timing } from '../schema/schedule.ts';
import { isInstantOf, nextInstants, timingProblem } from '../rules/instants.ts';

const cron = (expr: string, tz = 'UTC'): Timing => ({ kind: 'cron', expr, tz });
const runs = (timing: Timing, after: string, count: number): string[] =>
  nextInstants(timing, new Date(after), count).map((at) => at.toISOString().replace('.000Z', 'Z'));
const problem = (timing: Timing, now = '2026-01-01T00:00:00Z'): string | undefined =>
  timingProblem(timing, new Date(now));

describe('TL cron, when a clock is put forward', () => {
  it('a time that is skipped comes at the first moment after it, once', () => {
    assert.deepEqual(runs(cron('30 2 * * *', 'Europe/Berlin'), '2026-03-28T12:00:00Z', 2), [
      '2026-03-29T01:00:00Z',
      '2026-03-30T00:30:00Z',
    ]);
    assert.deepEqual(runs(cron('15 2 * * *', 'Australia/Lord_Howe'), '2026-10-03T00:00:00Z', 2), [
      '2026-10-03T15:30:00Z',
      '2026-10-04T15:15:00Z',
    ]);
  });

  it('several skipped times are one run at the first moment after them', () => {
    for (const expr of ['15,45 2 * * *', '*/10 2 * * *', '30 */2 * * *', '30 1-3 * * *', '* 2 * * *'])
      assert.ok(
        runs(cron(expr, 'Europe/Berlin'), '2026-03-29T00:59:59Z', 1)[0] === '2026-03-29T01:00:00Z',
        `${expr} runs when the clock shows 3:00`,
      );
    assert.deepEqual(runs(cron('*/30 */3 * * *', 'America/Havana'), '2026-03-08T04:00:00Z', 2), [
      '2026-03-08T05:00:00Z',
      '2026-03-08T07:00:00Z',
    ]);
  });

  it('each 20 minutes stays each 20 minutes', () => {
    assert.deepEqual(runs(cron('*/20 * * * *', 'Europe/Berlin'), '2026-03-29T00:30:00Z', 3), [
      '2026-03-29T00:40:00Z',
      '2026-03-29T01:00:00Z',
      '2026-03-29T01:20:00Z',
    ]);
  });
});

describe('TL cron, when a clock is put back', () => {
  it('a time that comes twice is taken once', () => {
    assert.deepEqual(runs(cron('30 2 * * *', 'Europe/Berlin'), '2026-10-24T12:00:00Z', 2), [
      '2026-10-25T00:30:00Z',
      '2026-10-26T01:30:00Z',
    ]);
  });

  it('several times that come twice are taken once each, whatever names them', () => {
    for (const [expr, expected] of [
      ['*/30 2 * * *', ['00:00', '00:30']],
      ['0 1,2,3 * * *', ['00:00', '02:00']],
      ['0 1-3 * * *', ['00:00', '02:00']],
    ] as const)
      assert.deepEqual(
        runs(cron(expr, 'Europe/Berlin'), '2026-10-24T23:30:00Z', 2).map((at) => at.slice(11, 16)),
        expected,
        expr,
      );
    // From within the second 2 o'clock, those of its first are over.
    assert.equal(
      runs(cron('*/30 2 * * *', 'Europe/Berlin'), '2026-10-25T01:10:00Z', 1)[0],
      '2026-10-26T01:00:00Z',
    );
  });

  it('each hour and each 20 minutes miss nothing', () => {
    for (const [expr, minutes] of [
      ['0 * * * *', 60],
      ['*/20 * * * *', 20],
      ['0 */1 * * *', 60],
      ['0 0-23 * * *', 60],
      ['@hourly', 60],
    ] as const) {
      const found = nextInstants(cron(expr, 'Europe/Berlin'), new Date('2026-10-24T22:00:00Z'), 24);
      for (const [n, at] of found.entries())
        assert.equal(at.getTime(), Date.parse('2026-10-24T22:00:00Z') + (n + 1) * minutes * 60_000);
    }
  });
});

describe('TL cron, what users type', () => {
  for (const [expr, first] of [
    ['0 9 13 * 5', ['2026-01-02', '2026-01-09', '2026-01-13', '2026-01-16']],
    ['0 9 * * 5#2', ['2026-01-09', '2026-02-13', '2026-03-13', '2026-04-10']],
    ['0 9 L * *', ['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30']],
    ['0 9 * JAN MON-FRI', ['2026-01-01', '2026-01-02', '2026-01-05', '2026-01-06']],
    ['0 9 29 2 *', ['2028-02-29', '2032-02-29', '2036-02-29', '2040-02-29']],
    ['0 9 * * 7', ['2026-01-04', '2026-01-11', '2026-01-18', '2026-01-25']],
  ] as const)
    it(`${expr} begins ${first.join(', ')}`, () => {
      assert.equal(problem(cron(expr)), undefined);
      assert.deepEqual(
        runs(cron(expr), '2026-01-01T00:00:00Z', 4).map((at) => at.slice(0, 10)),
        first,
      );
    });

  it('a sixth field in front is the second, in years to come too', () => {
    assert.equal(problem(cron('30 0 9 1 1 *')), undefined);
    assert.deepEqual(runs(cron('30 0 9 1 1 *'), '2026-06-01T00:00:00Z', 2), [
      '2027-01-01T09:00:30Z',
      '2028-01-01T09:00:30Z',
    ]);
  });

  for (const [timing, words] of [
    [cron('0 9 30 2 *'), /never comes/],
    [cron('61 * * * *'), /minute: 61/],
    [cron('0 9 32 * *'), /day: 32/],
    [cron('0 9 0 * *'), /day: 0/],
    [cron('0 9 1-32 * *'), /day: 32/],
    [cron('0 9 * 13 *'), /month: 13/],
    [cron('0 9 * * 8'), /dayOfWeek: 8/],
    [cron('* * * *'), /4 fields/],
    [cron('0 0 0 1 1 * 2030'), /7 fields/],
    [cron('2026-05-01T00:00:00'), /1 fields/],
    [cron('0 9 * * *', 'Mars/One'), /unknown time zone "Mars\/One"/],
    [cron('*/5 * * * * *'), /more often/],
    [cron('10/20 * * * *'), /range/],
    [{ kind: 'at', at: '2025-12-31T23:59:59Z' }, /is over/],
    [{ kind: 'at', at: '2300-01-01T00:00:00Z' }, /before the year 2100/],
    [{ kind: 'every', every_seconds: 60, from: '2300-01-01T00:00:00Z' }, /before the year 2100/],
  ] as const)
    it(`${JSON.stringify(timing)} is refused`, () => assert.match(problem(timing) ?? '', words));
});

describe('TL cron, intervals', () => {
  const every: Timing = { kind: 'every', every_seconds: 3_600, from: '2026-01-01T00:10:30.500Z' };

  it('are counted from their beginning, whole seconds', () => {
    assert.deepEqual(runs(every, '2026-01-01T00:10:31Z', 2), [
      '2026-01-01T01:10:30Z',
      '2026-01-01T02:10:30Z',
    ]);
    assert.deepEqual(runs(every, '2025-01-01T00:00:00Z', 1), ['2026-01-01T01:10:30Z']);
  });

  it('an instant of one is known from others', () => {
    assert.equal(isInstantOf(every, new Date('2026-01-02T05:10:30Z')), true);
    assert.equal(isInstantOf(every, new Date('2026-01-02T05:10:31Z')), false);
  });
});
