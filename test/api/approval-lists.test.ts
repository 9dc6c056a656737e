/** AP-4 over HTTP: who sees which approvals, filters, and deciding many at once. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('AP-4 lists of approvals', () => {
  let stack: Stack;
  let ann: string;
  let bea: string;
  const ids = new Map<string, string>();
  before(async () => {
    stack = await startStack({
      agents: [
        { key: 'other', tools: { ask: [{ tool: 'nudge' }] } },
        { key: 'named', tools: { ask: [{ tool: 'poke', approvers: { users: ['bea'] } }] } },
        { key: 'alone', tools: { ask: [{ tool: 'poke', exclude_requester: true }] } },
      ],
    });
    ann = await stack.makeKey(['read', 'approve'], { user: 'ann' });
    bea = await stack.makeKey(['read', 'approve'], { user: 'bea' });
    const asks: [string, string, string, string | undefined][] = [
      ['of-ann', 'poke', 'main', 'ann'],
      ['of-nobody', 'poke', 'main', undefined],
      ['of-bea', 'nudge', 'other', 'bea'],
      ['for-bea', 'poke', 'named', 'ann'],
      ['not-ann', 'poke', 'alone', 'ann'],
    ];
    for (const [note, tool, agent, user] of asks) {
      const body = { text: `${tool} {"note":"${note}"}`, agent, ...(user === undefined ? {} : { user }) };
      await stack.ask('POST', `/v1/sessions/${note}/messages`, { body });
      ids.set(note, await stack.worker.approvalOf(note));
    }
  });
  after(() => stack.stop());

  const idOf = (note: string): string => ids.get(note) ?? assert.fail(note);
  async function list(query = '', key = stack.key): Promise<string[]> {
    const { status, body } = await stack.ask('GET', `/v1/approvals?${query}`, { key });
    assert.equal(status, 200, JSON.stringify(body));
    return body.data.map((one: { session_key: string }) => one.session_key).sort();
  }

  it('show a user his own, nobody’s, and those that name him', async () => {
    assert.deepEqual(await list('', ann), ['for-bea', 'not-ann', 'of-ann', 'of-nobody']);
    assert.deepEqual(await list('', bea), ['for-bea', 'not-ann', 'of-bea', 'of-nobody']);
    assert.equal((await list()).length, 5);
  });

  it('show what waits for somebody, within what the key sees', async () => {
    assert.deepEqual(await list('assignee=ann'), ['of-ann', 'of-nobody']);
    assert.deepEqual(await list('assignee=bea&status=pending'), [
      'for-bea',
      'not-ann',
      'of-bea',
      'of-nobody',
    ]);
    assert.deepEqual(await list('assignee=bea', ann), ['for-bea', 'not-ann', 'of-nobody']);
  });

  it('show whom an approval does not concern nothing: not in the list, and 404 for everything about it', async () => {
    const before = await stack.ask('GET', '/v1/approvals/apr_none', { key: ann });
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['POST', '/decision', { decision: 'approve' }],
      ['POST', '/decision', { decision: 'nonsense' }],
    ] as const) {
      const answer = await stack.ask(method, `/v1/approvals/${idOf('of-bea')}${path}`, { key: ann, body });
      assert.deepEqual([answer.status, answer.body.detail], [404, before.body.detail]);
    }
    const { key } = await stack.makeTenant();
    assert.equal((await stack.ask('GET', `/v1/approvals/${idOf('of-ann')}`, { key })).status, 404);
  });

  it('filter by what a key may decide', async () => {
    assert.deepEqual(await list('mine=true', ann), ['of-ann', 'of-nobody']);
    assert.deepEqual(await list('mine=true', bea), ['for-bea', 'not-ann', 'of-bea', 'of-nobody']);
    assert.deepEqual(await list('mine=true'), ['of-ann', 'of-bea', 'of-nobody']);
  });

  it('filter by session, agent, tool, user, status and time', async () => {
    assert.deepEqual(await list('session_key=of-ann'), ['of-ann']);
    assert.deepEqual(await list('agent=named'), ['for-bea']);
    assert.deepEqual(await list('tool=nudge'), ['of-bea']);
    assert.deepEqual(await list('user=ann'), ['for-bea', 'not-ann', 'of-ann']);
    assert.deepEqual(await list('status=approved'), []);
    const { created_at } = (await stack.ask('GET', `/v1/approvals/${idOf('of-bea')}`)).body;
    const from = encodeURIComponent(created_at);
    assert.deepEqual(await list(`requested_before=${from}`), ['of-ann', 'of-nobody']);
    assert.equal((await list(`requested_after=${from}`)).includes('of-ann'), false);
    for (const bad of ['requested_after=yesterday', 'mine=maybe', 'status=open', 'assigned=x'])
      assert.equal((await stack.ask('GET', `/v1/approvals?${bad}`)).status, 400, bad);
  });

  it('page through what a user sees without repeat or gap', async () => {
    const seen: string[] = [];
    for (let after = ''; ; ) {
      const { body } = await stack.ask('GET', `/v1/approvals?limit=1&after=${after}`, { key: ann });
      seen.push(...body.data.map((one: { session_key: string }) => one.session_key));
      if (!body.has_more) break;
      after = body.next_cursor;
    }
    assert.deepEqual(seen, ['not-ann', 'for-bea', 'of-nobody', 'of-ann']);
  });

  describe('AP-4 many decisions at once', () => {
    const decide = (body: unknown, key = stack.key) =>
      stack.ask('POST', '/v1/approvals/decisions', { body, key });

    it('have an outcome each', async () => {
      const digest = '0'.repeat(64);
      const { status, body } = await decide(
        {
          ids: [
            idOf('of-ann'),
            idOf('of-ann'),
            idOf('of-bea'),
            'apr_none',
            '../x',
            idOf('not-ann'),
            { id: idOf('of-nobody'), digest },
          ],
          decision: 'approve',
        },
        ann,
      );
      assert.equal(status, 200);
      assert.deepEqual(
        body.data.map((one: any) => [one.id, one.receipt?.status ?? one.error.code]),
        [
          [idOf('of-ann'), 'approved'],
          [idOf('of-bea'), 'NotFound'],
          ['apr_none', 'NotFound'],
          ['../x', 'NotFound'],
          [idOf('not-ann'), 'Forbidden'],
          [idOf('of-nobody'), 'Conflict'],
        ],
      );
      const again = await decide({ ids: [idOf('of-ann')], decision: 'reject' }, ann);
      assert.deepEqual([again.body.data[0].ok, again.body.data[0].error.status], [false, 409]);
    });

    it('by a filter reach what waits and what the key may decide, and nothing else', async () => {
      const { body } = await decide({ filter: {}, decision: 'reject', reason: 'all of it' }, bea);
      assert.deepEqual(
        body.data.map((one: any) => [one.id, one.receipt?.status]).sort(),
        ['not-ann', 'for-bea', 'of-bea', 'of-nobody'].map((note) => [idOf(note), 'denied']).sort(),
      );
      assert.equal(body.has_more, false);
      assert.deepEqual((await decide({ filter: {}, decision: 'approve' }, bea)).body.data, []);
    });

    it('are refused when they cannot be meant', async () => {
      for (const body of [
        {},
        { decision: 'approve' },
        { ids: [], decision: 'approve' },
        { ids: ['a'], filter: {}, decision: 'approve' },
        { ids: ['a'], decision: 'edit' },
        { ids: ['a'], decision: 'respond' },
        { ids: ['a'], decision: 'approve', by: 'ann' },
        { filter: { status: 'approved' }, decision: 'approve' },
        { ids: Array.from({ length: 101 }, (_, n) => `apr_${n}`), decision: 'approve' },
      ])
        assert.equal((await decide(body)).status, 400, JSON.stringify(body).slice(0, 80));
      const reader = await stack.makeKey(['read', 'run']);
      assert.equal((await decide({ ids: ['a'], decision: 'approve' }, reader)).status, 403);
    });
  });
});
