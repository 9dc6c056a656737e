/** datetime: the current time, in any IANA zone. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tool } from '#activities/tools/automation/datetime.ts';
import { toolBench } from '#test/support/tool-call.ts';

const AT = Date.UTC(2026, 6, 4, 22, 5, 9);

describe('TL datetime', () => {
  const cases = [
    [undefined, 'Saturday, 2026-07-04 22:05:09 GMT+00:00 (UTC)'],
    ['Europe/Berlin', 'Sunday, 2026-07-05 00:05:09 GMT+02:00 (Europe/Berlin)'],
    [' asia/kolkata ', 'Sunday, 2026-07-05 03:35:09 GMT+05:30 (asia/kolkata)'],
  ] as const;
  for (const [timezone, first] of cases)
    test(`in ${timezone ?? 'UTC'} it is ${first}`, async (t) => {
      const bench = await toolBench(t, { deps: { now: () => AT } });
      const result = await bench.run(tool, { timezone });
      assert.equal(result.ok && result.text, `${first}\nUTC: 2026-07-04T22:05:09.000Z\nUnix: ${AT / 1000}`);
    });

  test('an unknown zone is InvalidArgs that names a valid one', async (t) => {
    const bench = await toolBench(t);
    const result = await bench.run(tool, { timezone: 'Mars/Olympus' });
    assert.deepEqual(result, {
      ok: false,
      code: 'InvalidArgs',
      message: 'unknown time zone "Mars/Olympus"; give an IANA name such as Europe/Berlin or UTC',
    });
  });
});
