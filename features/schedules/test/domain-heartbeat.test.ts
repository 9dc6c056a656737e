/** Heartbeats: which answers are quiet, which checklists empty, which hours active. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isActive, isEmptyChecklist, lookAgain, spokenPart } from '../contract/heartbeat.ts';

describe('TL heartbeat, its rules', () => {
  for (const quiet of [
    'HEARTBEAT_OK',
    '  **HEARTBEAT_OK**\n',
    'HEARTBEAT_OK.',
    'HEARTBEAT_OK\n\nInbox empty.',
    'All is well. HEARTBEAT_OK',
    '',
  ])
    it(`${JSON.stringify(quiet)} is quiet`, () => assert.equal(spokenPart(quiet, 300), undefined));

  for (const [answer, text] of [
    ['The boiler leaks.', 'The boiler leaks.'],
    [`HEARTBEAT_OK ${'x'.repeat(301)}`, 'x'.repeat(301)],
    [`${'x'.repeat(301)} HEARTBEAT_OK`, 'x'.repeat(301)],
    ['I was told to say HEARTBEAT_OK but cannot.', 'I was told to say HEARTBEAT_OK but cannot.'],
    ['HEARTBEAT_OKAY', 'HEARTBEAT_OKAY'],
  ] as const)
    it(`${JSON.stringify(answer.slice(0, 40))} is said`, () => assert.equal(spokenPart(answer, 300), text));

  it('with no characters allowed beside it, only the word itself is quiet', () => {
    assert.equal(spokenPart('HEARTBEAT_OK!', 0), undefined);
    assert.equal(spokenPart('HEARTBEAT_OK: a word', 0), 'a word');
  });

  it('a checklist of headings, comments and empty points asks for nothing; one word does', () => {
    assert.ok(isEmptyChecklist(''));
    assert.ok(isEmptyChecklist('# Heartbeat\n\n<!-- write\nhere -->\n- \n* [ ]\n1.\n'));
    assert.ok(!isEmptyChecklist('# Heartbeat\n- [ ] look at the post'));
    assert.ok(!isEmptyChecklist(`#${' '.repeat(20_000)}`));
  });

  it('hours are those of the wall, on both sides of a change of the clock, and may go over midnight', () => {
    const berlin = { active_hours: '08:00-22:00', timezone: 'Europe/Berlin' };
    assert.ok(!isActive(berlin, new Date('2026-03-28T06:59:00Z')));
    assert.ok(isActive(berlin, new Date('2026-03-28T07:00:00Z')));
    assert.ok(isActive(berlin, new Date('2026-03-29T06:00:00Z')));
    assert.ok(!isActive(berlin, new Date('2026-03-29T20:00:00Z')));
    assert.ok(isActive(berlin, new Date('2026-10-25T20:59:00Z')));
    const night = { active_hours: '22:00-06:00', timezone: 'UTC' };
    assert.ok(isActive(night, new Date('2026-01-01T23:00:00Z')));
    assert.ok(isActive(night, new Date('2026-01-01T00:00:00Z')));
    assert.ok(!isActive(night, new Date('2026-01-01T12:00:00Z')));
    assert.ok(isActive({ active_hours: '00:00-24:00', timezone: 'UTC' }, new Date('2026-01-01T23:59:00Z')));
    assert.ok(isActive({ timezone: 'UTC' }, new Date()));
  });

  it('one that goes on is looked at ever more seldom, a failed one after a wait that grows', () => {
    assert.equal(lookAgain({ status: 'running', age: 0, attempt: 1 }), 1);
    assert.equal(lookAgain({ status: 'waiting_approval', age: 800_000, attempt: 1 }), 3_600);
    assert.equal(lookAgain({ status: 'completed', age: 0, attempt: 1 }), 0);
    assert.equal(lookAgain({ status: 'failed', age: 0, attempt: 2 }), 20);
    assert.equal(lookAgain({ status: 'failed', age: 21, attempt: 2 }), 0);
    assert.equal(lookAgain({ status: 'failed', age: 0, attempt: 10 }), 3_600);
  });
});
