/** DE-1: who may delegate to whom, and the words of refusals. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type AgentLink, LINK_WORDS, linkLeads } from '#domain/assignment/agent-link.ts';
import { refuseUser } from '#domain/link-user.ts';
import { loadOf } from '#domain/assignment/delegation.ts';
import { VECTORS } from './vectors.ts';

const LINK: AgentLink = {
  id: 'l',
  source: 'a',
  target: 'b',
  direction: 'outbound',
  status: 'active',
  max_concurrent: 0,
  settings: {},
};

describe('DE-1 the direction of a link', () => {
  for (const { there, back, ...link } of VECTORS.directions)
    test(`${link.direction}${link.status ? `, ${link.status}` : ''}: ${there ? 'there' : 'not there'}, ${back ? 'back' : 'not back'}`, () => {
      const whole = { ...LINK, ...link };
      assert.equal(linkLeads(whole, 'a', 'b'), there);
      assert.equal(linkLeads(whole, 'b', 'a'), back);
      assert.equal(linkLeads(whole, 'a', 'c'), false);
      assert.equal(linkLeads(whole, 'c', 'b'), false);
    });
});

describe('DE-1 the users of a link', () => {
  for (const { name, settings, user, roles = [], allowed } of VECTORS.users)
    test(`${name}: ${allowed ? 'may' : 'may not'}`, () => {
      const refusal = refuseUser({ ...LINK, settings }, 'b', { user, roles });
      assert.equal(refusal === undefined, allowed, refusal);
    });

  test('who is denied is so under every spelling of the name', () => {
    const link = { ...LINK, settings: { user_deny: ['Ann'] } };
    for (const user of ['Ann', 'ann', ' ANN', 'ａnn'])
      assert.ok(refuseUser(link, 'b', { user, roles: [] }), user);
    assert.equal(refuseUser(link, 'b', { user: 'anna', roles: [] }), undefined);
  });

  test('who may not is told so, and nothing of the lists', () => {
    const link = { ...LINK, settings: { user_allow: ['ann'] } };
    const words = 'you are not authorized to use this delegation link';
    assert.equal(refuseUser(link, 'b', { user: 'u', roles: [] }), words);
  });
});

describe('DE-1 limits', () => {
  for (const { asked, load } of VECTORS.loads)
    test(`max_delegation_load ${JSON.stringify(asked)} is ${load}`, () => {
      assert.equal(loadOf(asked), load);
    });

  test('refusals say what is full, how full, and what to do instead', () => {
    assert.match(LINK_WORDS.linkFull('b', 2, 2), /^delegation link to "b" is at capacity \(2\/2 active\)/);
    const full = LINK_WORDS.agentFull('b', 5, 5);
    assert.match(full, /^Agent at capacity \(5\/5\)\. Try a different agent or handle it yourself\./);
    assert.match(
      full,
      /agent "b" is at capacity \(5\/5 active delegations\)\. Either wait and retry, use a different agent, or handle the task yourself$/,
    );
  });
});
