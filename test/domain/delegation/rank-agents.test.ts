/** DE-3: which agents a search finds, and in which order. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { embedText, similarity } from '#domain/text/embed-text.ts';
import { rankAgents, type SearchedAgent } from '#domain/assignment/rank-agents.ts';

function agent(key: string, description: string, rank = 0): SearchedAgent {
  return { key, name: null, description, frontmatter: null, rank };
}

describe('DE-3 likeness of words', () => {
  test('is 1 for the same words in any case and order, and less for others', () => {
    assert.ok(Math.abs(similarity(embedText('Sales reports'), embedText('reports SALES')) - 1) < 1e-9);
    assert.ok(similarity(embedText('sales reports'), embedText('legal contracts')) < 0.5);
  });

  test('finds another form of a word', () => {
    const expected = embedText('translation');
    const near = similarity(expected, embedText('translates'));
    assert.ok(near > similarity(expected, embedText('database')));
    assert.ok(near > 0.2);
  });

  test('finds a word of a script without spaces within its run of letters', () => {
    const found = rankAgents([agent('en', 'writes reports'), agent('ja', '日本語の翻訳者')], '翻訳', 5);
    assert.equal(found[0]?.key, 'ja');
  });

  test('of text without a word is 0 to all', () => {
    assert.equal(similarity(embedText('—'), embedText('word')), 0);
  });
});

describe('DE-3 the order of finds', () => {
  const agents = [
    agent('writer', 'writes sales reports for customers', 0.6),
    agent('lawyer', 'reads contracts'),
    agent('reporter', 'reports on sales', 0.2),
  ];

  test('is best first, without those that have nothing of the query', () => {
    const found = rankAgents(agents, 'sales reports', 5).map(({ key }) => key);
    assert.deepEqual([...found].sort(), ['reporter', 'writer']);
  });

  test('has at most as many as were asked for', () => {
    assert.equal(rankAgents(agents, 'sales reports', 1).length, 1);
  });

  test('is the same however the agents come', () => {
    const there = rankAgents(agents, 'sales', 5).map(({ key }) => key);
    const back = rankAgents([...agents].reverse(), 'sales', 5).map(({ key }) => key);
    assert.deepEqual(there, back);
  });
});
