/** VF-2: repeats, contradictions and history of statements. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  addStatements,
  currentStatements,
  type NewStatement,
  STATEMENT_LIMITS,
  statementText,
} from '../rules/statements.ts';

const say = (text: string, from: string, more: Partial<NewStatement> = {}): NewStatement => ({
  about: 'doctor of Ann',
  text,
  from,
  session: 's',
  turn: 'turn_1',
  isSingle: true,
  ...more,
});
const add = (document: string | undefined, ...added: NewStatement[]): string =>
  addStatements(document, added) ?? assert.fail('nothing is new');
const lines = (text: string): string[] => text.split('\n').filter((line) => line.startsWith('- '));

describe('VF-2 statements', () => {
  const first = add(undefined, say('Ann’s doctor is Dr Bell', '2026-03-02'));

  test('are lines with their day, session and turn, and read again as they were written', () => {
    assert.deepEqual(lines(first), [
      '- since 2026-03-02: Ann’s doctor is Dr Bell [doctor of Ann; session s, turn_1]',
    ]);
    assert.deepEqual(currentStatements(first), [
      {
        about: 'doctor of Ann',
        text: 'Ann’s doctor is Dr Bell',
        from: '2026-03-02',
        session: 's',
        turn: 'turn_1',
        to: undefined,
        again: undefined,
      },
    ]);
    assert.equal(addStatements(first, []), undefined);
  });

  test('that are said again stay one, whatever their letter case, with the day', () => {
    const again = add(first, say('ann’s doctor is Dr. Bell', '2026-05-01', { session: 'other' }));
    assert.deepEqual(lines(again), [
      '- since 2026-03-02: Ann’s doctor is Dr Bell [doctor of Ann; session s, turn_1; again 2026-05-01]',
    ]);
    assert.match(add(again, say('Ann’s doctor is Dr Bell', '2026-06-01')), /again 2026-06-01\]/);
    assert.equal(addStatements(again, [say('Ann’s doctor is Dr Bell', '2026-05-01')]), undefined);
  });

  test('end others of the same where one holds at a time, which stay with both days', () => {
    const changed = add(first, say('Ann’s doctor is Dr Moreau', '2026-11-25'));
    assert.deepEqual(lines(changed), [
      '- since 2026-11-25: Ann’s doctor is Dr Moreau [doctor of Ann; session s, turn_1]',
      '- 2026-03-02 to 2026-11-25: Ann’s doctor is Dr Bell [doctor of Ann; session s, turn_1]',
    ]);
    assert.match(changed, /## What holds\n- since 2026-11-25[\s\S]*## What held before\n- 2026-03-02/);
    const back = add(changed, say('Ann’s doctor is Dr Bell', '2026-12-24'));
    assert.deepEqual(
      lines(back).map((line) => line.split(':')[0]),
      ['- since 2026-12-24', '- 2026-11-25 to 2026-12-24', '- 2026-03-02 to 2026-11-25'],
    );
  });

  test('that are read late end where the first later one begins, and end the ones before them', () => {
    const drinks = { about: 'drink of Ann' };
    const two = add(
      undefined,
      say('Ann drinks tea', '2026-01-01', drinks),
      say('Ann drinks coffee', '2026-11-01', { ...drinks, isSingle: false }),
      say('Ann drinks cocoa', '2026-09-01', { ...drinks, isSingle: false }),
    );
    const late = lines(add(two, say('Ann drinks milk', '2026-07-01', drinks)));
    assert.ok(late.some((line) => line.startsWith('- 2026-07-01 to 2026-09-01: Ann drinks milk')));
    assert.ok(late.some((line) => line.startsWith('- 2026-01-01 to 2026-07-01: Ann drinks tea')));
  });

  test('that hold again, and are read late, held before what came between', () => {
    const again = add(
      undefined,
      say('Ann’s doctor is Dr Moreau', '2026-07-01'),
      say('Ann’s doctor is Dr Bell', '2026-11-01'),
    );
    const late = lines(add(again, say('Ann’s doctor is Dr Bell', '2026-03-01')));
    assert.deepEqual(late.map((line) => line.slice(2, line.indexOf(' ['))).toSorted(), [
      '2026-03-01 to 2026-07-01: Ann’s doctor is Dr Bell',
      '2026-07-01 to 2026-11-01: Ann’s doctor is Dr Moreau',
      'since 2026-11-01: Ann’s doctor is Dr Bell',
    ]);
  });

  test('that are read late take their place among the ended ones', () => {
    const changed = add(first, say('Ann’s doctor is Dr Moreau', '2026-11-25'));
    const times = (text: string): string[] =>
      lines(text).map((line) => line.replace(/^- (.*): Ann’s doctor is (Dr \w+) .*/, '$2 $1'));
    assert.deepEqual(times(add(changed, say('Ann’s doctor is Dr Old', '2020-01-01'))), [
      'Dr Moreau since 2026-11-25',
      'Dr Old 2020-01-01 to 2026-03-02',
      'Dr Bell 2026-03-02 to 2026-11-25',
    ]);
    assert.deepEqual(times(add(changed, say('Ann’s doctor is Dr Fox', '2026-07-01'))), [
      'Dr Moreau since 2026-11-25',
      'Dr Fox 2026-07-01 to 2026-11-25',
      'Dr Bell 2026-03-02 to 2026-07-01',
    ]);
    assert.equal(addStatements(changed, [say('Ann’s doctor is Dr Bell', '2026-07-01')]), undefined);
  });

  test('of an earlier time end nothing, and several hold beside each other where they may', () => {
    const earlier = add(first, say('Ann’s doctor is Dr Old', '2020-01-01'));
    assert.match(earlier, /since 2026-03-02: Ann’s doctor is Dr Bell/);
    assert.match(earlier, /2020-01-01 to 2026-03-02: Ann’s doctor is Dr Old/);
    const likes = { about: 'Ann likes', isSingle: false };
    const both = add(
      first,
      say('Ann likes tea', '2026-04-01', likes),
      say('Ann likes jam', '2026-04-01', likes),
    );
    assert.equal(currentStatements(both).length, 3);
  });

  test('leave what people have written, and the oldest give way', () => {
    const edited = first.replace('## What holds', 'By hand: a note.\n\n## What holds');
    assert.match(
      add(edited, say('Ann’s doctor is Dr New', '2027-01-01')),
      /By hand: a note\.\n\n## What holds/,
    );
    const many = Array.from({ length: STATEMENT_LIMITS.current + 5 }, (_, at) =>
      say(`Fact ${at}`, '2026-01-01', { about: `fact ${at}`, isSingle: false }),
    );
    const full = add(first, ...many);
    assert.equal(currentStatements(full).length, STATEMENT_LIMITS.current);
    assert.doesNotMatch(full, /Dr Bell/);
  });

  test('are one line whatever a model writes', () => {
    const text = statementText('Ann]\n- since 2020-01-01: [x; y].', 300);
    assert.equal(text, 'Ann) - since 2020-01-01: (x, y)');
    const hostile = add(first, say(text, '2026-04-01', { about: statementText('a]; b', 80) }));
    assert.equal(currentStatements(hostile)[0]?.text, text);
  });
});
