/** How identifiers become words of the index (memory_search). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { questionTime, beforeEvent, dateIn } from '../rules/question-time.ts';
import { editDistance } from '../rules/edit-distance.ts';
import { questionTerms, searchTerms } from '#domain/text/search-terms.ts';

const NOW = Date.UTC(2026, 7, 20);

describe('TL memory_search: words of the index', () => {
  it('an identifier is its parts and the whole of them, whatever stands between them', () => {
    assert.equal(searchTerms('INC-2291'), 'inc 2291 inc2291');
    assert.equal(searchTerms('inc2291'), 'inc 2291 inc2291');
    assert.equal(searchTerms('maxRetryCount'), 'max retry count maxretrycount');
    assert.equal(searchTerms('retry.backoff_ms'), 'retry backoff ms retrybackoffms backoffms');
    assert.equal(searchTerms('HTTPServerError'), 'http server error httpservererror');
  });

  it('each sentence and line stays one', () => {
    assert.equal(searchTerms('Ann works. Bob rests.\nMeno'), 'ann works\nbob rests\nmeno');
  });

  it('accents and the form of letters make no other word', () => {
    assert.equal(searchTerms('Café naïve ＡＢ'), 'cafe naive ab');
  });

  it('where no spaces tell words apart, each two letters are one', () => {
    assert.equal(searchTerms('東京の鍵'), '東京 京の の鍵');
    assert.equal(searchTerms('田 Tokyo東京office 2026年'), '田 tokyo 東京 office 2026 年');
    assert.deepEqual(questionTerms('東京の鍵').words, ['東京', '京の', 'の鍵']);
  });

  it('a Korean word is found whatever its ending', () => {
    assert.equal(searchTerms('여권은 서랍'), '여권 권은 서랍');
    assert.deepEqual(questionTerms('여권').words, ['여권']);
  });

  it('a number in groups is one number too', () => {
    assert.equal(searchTerms('telephone 030 5550142.'), 'telephone 030 5550142 0305550142');
    assert.equal(searchTerms('4,812 euros'), '4 812 euros 4812');
    assert.ok(questionTerms('card 2 0047 118 335').joined.includes('20047118335'));
  });

  it('neighbouring words of a question may be one identifier', () => {
    assert.ok(questionTerms('fixed inc 2291?').joined.includes('inc2291'));
    assert.ok(questionTerms('the retry backoff ms').joined.includes('retrybackoffms'));
  });

  it('letters that changed places are one slip', () => {
    assert.equal(editDistance('porduction', 'production'), 1);
    assert.equal(editDistance('kitten', 'sitting'), 3);
  });

  it('a question says which of several statements it wants', () => {
    assert.equal(questionTime('What was the first region?', NOW).order, 'oldest');
    assert.equal(questionTime('Where is it now?', NOW).order, 'newest');
    assert.equal(questionTime('Where was it in May 2026?', NOW).until, Date.UTC(2026, 5, 1));
    assert.equal(questionTime('Where was it in May?', NOW).until, Date.UTC(2026, 5, 1));
    assert.equal(questionTime('Where was it by the end of October?', NOW).until, Date.UTC(2025, 10, 1));
    assert.equal(questionTime('What may we do?', NOW).until, Infinity);
    assert.equal(dateIn('on 3rd of March, 2026')?.from, Date.UTC(2026, 2, 3));
    for (const none of ['memory/2026-13-40.md', '2026-02-30', '2026-01-00', '31 April 2026', 'March 0, 2026'])
      assert.equal(dateIn(none), undefined, none);
    assert.equal(dateIn('2028-02-29')?.from, Date.UTC(2028, 1, 29));
  });

  it('a question about what was before something is the question and that', () => {
    const keys = { question: 'Where were the keys', event: 'the move' };
    assert.deepEqual(beforeEvent('Where were the keys before the move?'), keys);
    assert.deepEqual(beforeEvent('Before the move, where were the keys?'), {
      ...keys,
      question: 'where were the keys?',
    });
    for (const other of [
      'What must be done before a deploy?',
      'Where was it before May 2026?',
      'Where was it before?',
    ])
      assert.equal(beforeEvent(other), undefined, other);
  });
});
