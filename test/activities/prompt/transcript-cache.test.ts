import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { identicalAnswers } from '#activities/prompt/loop-guard.ts';
import { createTranscriptCache, NOTHING_KNOWN } from '#activities/prompt/transcript-cache.ts';
import type { StepBasis, TranscriptRow } from '#store/turns/step-basis.ts';

const SINCE = '2026-01-01T00:00:00Z';

function basis(
  rows: readonly TranscriptRow[],
  summary: { text: string | null; position: number } = { text: null, position: 0 },
): StepBasis {
  return {
    budget: null,
    agent: null,
    agent_key: 'main',
    leads: null,
    agent_current: true,
    links: 0,
    sandbox: null,
    user: null,
    context: {},
    documents: null,
    skills: [],
    tenant_policy: null,
    now: 0,
    tools_version: 0,
    spent: { input: 0, output: 0, usd: null, unpriced: 0 },
    summary: summary.text,
    summary_position: summary.position,
    since: SINCE,
    recorded: null,
    transcript: rows,
    allowlist: [],
    used: {},
  };
}

const user = (position: number, text: string): TranscriptRow => ({
  position,
  role: 'user',
  text,
  turn: 't',
  step: 1,
});
const onRequest = (position: number, digest: string, state = 'done'): TranscriptRow => ({
  position,
  role: 'assistant',
  text: '',
  turn: 't',
  step: position,
  calls: [{ id: `c${position}`, name: 'datetime', args: {}, state, digest, ok: true, result: 'now' }],
});

describe('DU-3 a step reads only what is new', () => {
  test('what was read before is kept and what comes is added to it', () => {
    const cache = createTranscriptCache(10_000);
    cache.extend('acme', 's', 0, basis([user(1, 'hello')]));
    assert.deepEqual(cache.known('acme', 's'), { position: 1, summaryPosition: 0, since: SINCE });
    const whole = cache.extend('acme', 's', 1, basis([onRequest(2, 'd')]));
    assert.deepEqual(
      whole.rows.map((row) => row.position),
      [1, 2],
    );
    assert.deepEqual(cache.known('other', 's'), NOTHING_KNOWN);
  });

  test('a row whose calls are not done is not kept, since it will change', () => {
    const cache = createTranscriptCache(10_000);
    cache.extend('acme', 's', 0, basis([user(1, 'hello'), onRequest(2, 'd', 'running')]));
    assert.equal(cache.known('acme', 's').position, 0);
  });

  test('a summary made elsewhere takes the place of the rows it stands for', () => {
    const cache = createTranscriptCache(10_000);
    cache.extend('acme', 's', 0, basis([user(1, 'a'), user(2, 'b'), user(3, 'c')]));
    const after = cache.extend(
      'acme',
      's',
      3,
      basis([user(4, 'd')], { text: 'a and b were said', position: 2 }),
    );
    assert.equal(after.summary, 'a and b were said');
    assert.deepEqual(
      after.rows.map((row) => row.position),
      [3, 4],
    );
  });

  test('the session used longest ago is forgotten when there is no more room', () => {
    const cache = createTranscriptCache(100);
    cache.extend('acme', 'old', 0, basis([user(1, 'x'.repeat(60))]));
    cache.extend('acme', 'new', 0, basis([user(1, 'y'.repeat(60))]));
    assert.equal(cache.known('acme', 'old').position, 0);
    assert.equal(cache.known('acme', 'new').position, 1);
  });
});

describe('EX-7 identical answers in a row are counted', () => {
  const rows = (digests: readonly string[]) =>
    createTranscriptCache(10_000).extend(
      'a',
      's',
      0,
      basis([user(1, 'go'), ...digests.map((digest, index) => onRequest(index + 2, digest))]),
    ).rows;

  test('only those at the end, without another call between', () => {
    assert.equal(identicalAnswers(rows(['a', 'a', 'a']), 't'), 3);
    assert.equal(identicalAnswers(rows(['a', 'b', 'a', 'a']), 't'), 2);
    assert.equal(identicalAnswers(rows(['a', 'a', 'b']), 't'), 1);
    assert.equal(identicalAnswers(rows([]), 't'), 0);
  });

  test('an earlier turn does not count', () => {
    assert.equal(identicalAnswers(rows(['a', 'a']), 'another'), 0);
  });
});
