/** AP-4: the order of escalation, reminders and expiry. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type AlarmTimes, nextAlarm } from '#domain/approval/approval-alarms.ts';

/** Everything that happens to an approval that nobody decides. */
function story(times: AlarmTimes): string[] {
  const messages: string[] = [];
  for (let escalated = false, reminders = 0; ; ) {
    const { after, what } = nextAlarm(times, { escalated, reminders });
    messages.push(`${after / 1000} ${what}`);
    if (what === 'expired') return messages;
    if (what === 'escalated') escalated = true;
    else reminders += 1;
  }
}

describe('AP-4 an approval that nobody decides', () => {
  for (const [times, expected] of [
    [{ expires: 120 }, ['120 expired']],
    [{ expires: 120, escalate: 60 }, ['60 escalated', '120 expired']],
    [{ expires: 120, escalate: 120 }, ['120 expired']],
    [{ expires: 10, escalate: 60, remind: 60 }, ['10 expired']],
    [{ expires: 30, escalate: 15, remind: 10 }, ['10 reminded', '15 escalated', '20 reminded', '30 expired']],
  ] as const)
    test(`${JSON.stringify(times)}: ${expected.join(', ')}`, () => assert.deepEqual(story(times), expected));

  test('is not reminded of without end', () => {
    assert.equal(story({ expires: 2_592_000, remind: 5 }).length, 21);
  });
});
