/** What the league makes of its turns: outcomes, merged results, tables and the picture. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawPicture } from '../../../bench/league/picture.ts';
import { tablesOf, withTables } from '../../../bench/league/report.ts';
import { condense, mergeResults, type Results, type SideResults } from '../../../bench/league/results.ts';
import { messageOf, replyTo, reportedBy } from '../../../bench/league/script.ts';
import { judge } from '../../../bench/league/trial.ts';
import type { Seen } from '../../../bench/league/world.ts';

function seen(effects: number, more: Partial<Seen> = {}): Seen {
  return {
    effects: new Map([['a-0', effects]]),
    reported: 'paid',
    words: 'paid a-0',
    answers: [{ ok: true, text: 'done' }],
    answeredAt: 3_000,
    ...more,
  };
}

function side(id: string, more: Partial<SideResults> = {}): SideResults {
  return {
    id,
    title: id.toUpperCase(),
    versions: `${id} 1.0.0`,
    page: 'https://example.com/page',
    points: { in: condense([judge('a', seen(1), 1_000, 1), judge('b', seen(2), 1_000, 1)]) },
    ...more,
  };
}

const results = (...sides: SideResults[]): Results => ({ machine: 'Node v24, 2 × CPU', sides });

describe('the outcome of a killed turn', () => {
  const outcomeOf = (one: Seen) => judge('a', one, 1_000, 1).outcome;

  it('is right only when it was paid once and the model knows', () => {
    assert.equal(outcomeOf(seen(1)), 'right');
    assert.equal(outcomeOf(seen(1, { reported: 'other' })), 'lost');
  });
  it('is doubled whatever else was said', () => {
    assert.equal(outcomeOf(seen(2, { answers: [] })), 'doubled');
    assert.equal(outcomeOf(seen(2, { reported: 'unknown' })), 'doubled');
  });
  it('is unknown when the model was told so, whether it was paid or not', () => {
    assert.equal(outcomeOf(seen(0, { reported: 'unknown' })), 'unknown');
    assert.equal(outcomeOf(seen(1, { reported: 'unknown' })), 'unknown');
  });
  it('is lost when nothing was paid and the model believes that it was', () => {
    assert.equal(outcomeOf(seen(0)), 'lost');
  });
  it('is failed with an error, and late without any answer', () => {
    assert.equal(outcomeOf(seen(0, { answers: [{ ok: false, text: 'no' }] })), 'failed');
    assert.equal(outcomeOf(seen(0, { answers: [], answeredAt: undefined })), 'late');
  });
  it('has the seconds from the restart to the answer', () => {
    assert.equal(judge('a', seen(1), 1_000, 1).seconds, 2);
    assert.equal(judge('a', seen(1, { answeredAt: undefined }), 1_000, 1).seconds, undefined);
  });
});

describe('the scripted model', () => {
  const user = { role: 'user', content: `It is noon.\n${messageOf('t-1', 2)}` };

  it('calls the tool once a step and answers at the end', () => {
    const first = replyTo({ messages: [user] });
    assert.deepEqual(first.call, { id: 'call_t-1-0', tool: 'pay', payment: 't-1-0' });
    assert.equal(first.reported, undefined);
    const tool = { role: 'tool', content: [{ text: 'paid t-1-0' }] };
    const second = replyTo({ messages: [user, tool], stream: true });
    assert.equal(second.call?.payment, 't-1-1');
    assert.equal(second.reported, 'paid');
    const last = replyTo({ messages: [user, tool, { role: 'tool', content: 'paid t-1-1' }] });
    assert.equal(last.call, undefined);
    assert.equal(last.text, 't-1: paid t-1-1');
  });
  it('refuses a conversation that asks for nothing', () => {
    assert.throws(() => replyTo({ messages: [{ role: 'user', content: 'Hello' }] }), /pay ID times=N/);
  });
  it('tells an unknown outcome from a payment and from another failure', () => {
    assert.equal(reportedBy('OutcomeUnknown: it may have happened', 'a-0'), 'unknown');
    assert.equal(reportedBy('paid a-1', 'a-0'), 'other');
    assert.equal(reportedBy('paid a-0', 'a-0'), 'paid');
  });
});

describe('the results of the league', () => {
  it('keep what a later run did not measure', () => {
    const later = side('b', { points: { after: condense([judge('a', seen(2), 1_000, 1)]) } });
    const merged = mergeResults(results(side('b'), side('a')), results(later), ['a', 'b']);
    assert.deepEqual(
      merged.sides.map(({ id }) => id),
      ['a', 'b'],
    );
    assert.deepEqual(Object.keys(merged.sides[1]?.points ?? {}), ['in', 'after']);
  });
  it('drop what was measured with other versions, and sides that are gone', () => {
    const later = side('b', { versions: 'b 2.0.0', points: {} });
    const merged = mergeResults(results(side('b'), side('gone')), results(later), ['b']);
    assert.deepEqual(
      merged.sides.map(({ versions, points }) => ({ versions, points })),
      [{ versions: 'b 2.0.0', points: {} }],
    );
  });
  it('are tables with a number for each outcome of each side', () => {
    const tables = tablesOf(
      results(side('a', { pace: { stepMs: 12.34, turnsPerSecond: 5, memoryMb: 100.4, serversMb: 200 } })),
    );
    assert.match(tables, /\| A \| 2 \| 1 \| 0 \| 0 \| 0 \| 1 \| 0 \| 2\.0 to 2\.0 \| 1\.0 to 1\.0 \|/);
    assert.match(tables, /\| `in` \| 1 paid once, 1 \*\*paid twice\*\* of 2; 2\.0 s \|/);
    assert.match(tables, /\| A \| 12\.3 \| 5\.00 \| 100 \| 200 \|/);
    assert.doesNotMatch(tables, /undefined|NaN/);
  });
  it('replace the tables of the page and nothing else', () => {
    const page = '# A\n<!-- tables: bench/league/main.ts writes them -->\nold\n<!-- end of the tables -->\nb';
    assert.equal(withTables(page, 'new'), page.replace('\nold\n', '\n\nnew\n'));
    assert.throws(() => withTables('# A', 'new'), /has no place/);
  });
  it('are a picture with a part for each outcome that happened', () => {
    const picture = drawPicture(results(side('a'), side('b', { points: {} })));
    assert.match(picture, /A: 1 of 2 paid once/);
    assert.match(picture, /A: 1 of 2 paid twice/);
    assert.doesNotMatch(picture, /B:|NaN|undefined/);
    assert.match(picture, /prefers-color-scheme:dark/);
  });
});
