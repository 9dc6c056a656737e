/** Hooks as people and models meet them: what they deny, ask, change, and what of that is stored. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Hook } from '#domain/turn/hook.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { startSite, type WebSite } from '#test/support/web-site.ts';

/** The answers of this machine's hooks, by path. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  '/allow': '',
  '/deny': { decision: 'deny', reason: 'not on a Sunday' },
  '/ask': { decision: 'ask', reason: 'somebody should look' },
  '/change': { input: { note: 'changed' } },
  '/forbidden': { input: { note: 'forbidden' } },
  '/wrong': { input: { note: 5, other: true } },
  '/odd': { verdict: 'fine' },
  '/prompt': { prompt: 'poke {"note":"from a hook"}\nthen\nDone.' },
};

describe('REFERENCE §10 hooks', () => {
  let stack: Stack;
  let site: WebSite;
  let close: () => void = () => undefined;
  const http = (path: string, more: Partial<Hook> = {}): Hook => ({
    event: 'pre_tool_use',
    type: 'http',
    url: site.url + path,
    name: path.slice(1),
    ...more,
  });

  before(async () => {
    site = await startSite({ after: (end) => (close = end) }, ({ url = '' }, reply) => {
      if (url === '/late') return;
      if (url === '/broken') return void reply.writeHead(500).end();
      const answer = ANSWERS[url];
      reply.writeHead(200).end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    });
    const rules = [{ tool: 'poke', args: { note: 'forbidden' }, decision: 'deny', reason: 'never' }] as const;
    const agent = (key: string, hooks: readonly Hook[], more = {}) => ({
      key,
      tools: { rules },
      hooks,
      ...more,
    });
    stack = await startStack({
      settings: `egress: { allowPrivate: ["${site.place}"] }`,
      egress: { allowPrivate: [site.place] },
      scripts: {
        judge:
          'rules:\n  - when: { user: secretive }\n    reply: { text: "DENY: it is secretive" }\n  - reply: { text: ALLOW }\n',
        mumbles: 'rules:\n  - reply: { text: "Well, perhaps." }\n',
      },
      agents: [
        agent('denied', [http('/deny', { tools: ['poke'] })]),
        agent('asked', [http('/change'), http('/ask')]),
        agent('changed', [http('/allow'), http('/change')]),
        agent('forbidden', [http('/forbidden')]),
        agent('wrong', [http('/wrong')]),
        agent('odd', [http('/odd')]),
        agent('broken', [http('/broken')]),
        agent('late', [http('/late', { timeout_seconds: 0.2 })]),
        agent('command', [
          {
            event: 'pre_tool_use',
            type: 'command',
            command: 'grep -q blocked && { echo "no blocked things" >&2; exit 2; } || exit 0',
          },
        ]),
        agent('failing', [{ event: 'pre_tool_use', type: 'command', command: 'exit 1' }]),
        agent('judged', [
          { event: 'pre_tool_use', type: 'prompt', prompt: 'Nothing hidden.', model: 'rehearsal/judge' },
        ]),
        agent('mumbled', [
          { event: 'pre_tool_use', type: 'prompt', prompt: 'Say.', model: 'rehearsal/mumbles' },
        ]),
        agent('spawns', [http('/deny', { event: 'subagent_start' })], { tools: {} }),
        agent('unheard', [{ event: 'subagent_start', type: 'command', command: 'exit 3' }], { tools: {} }),
        agent('heard', [http('/prompt', { event: 'user_prompt_submit' })]),
        agent('silenced', [http('/deny', { event: 'user_prompt_submit' })]),
        agent('begun', [http('/allow', { event: 'session_start' })]),
        agent('unbegun', [http('/deny', { event: 'session_start' })]),
        agent('hanging', [http('/late', { event: 'session_start', timeout_seconds: 2 })]),
        agent('edited', [http('/deny', { tools: ['poke'] })], {
          tools: { ask: [{ tool: 'poke' }] },
          hooks: undefined,
        }),
      ],
    });
  });
  after(async () => {
    await stack.stop();
    close();
  });

  /** A turn that pokes once, its call as the API shows it, and its events. */
  async function poke(agent: string, note = 'x') {
    const session = `of-${agent}-${note}`;
    const { turn_id } = await stack.worker.say(session, `poke {"note":"${note}"}\nthen\nDone.`, { agent });
    const turn = await stack.worker.ended(turn_id);
    const { body } = await stack.ask('GET', `/v1/turns/${turn_id}/tool-calls`);
    const events = await stack.worker.events(session);
    return { turn, call: body.data[0], events: events.filter(({ type }) => type === 'hook.decided') };
  }

  it('deny a call of the tools that they are for, which the ledger and the feed say', async () => {
    const { call, events } = await poke('denied');
    assert.deepEqual([call.ok, call.code, call.reason], [false, 'PermissionDenied', 'not on a Sunday']);
    const [run] = call.hooks;
    assert.deepEqual(
      [run.hook, run.event, run.decision, run.reason],
      ['deny', 'pre_tool_use', 'deny', 'not on a Sunday'],
    );
    assert.deepEqual(
      events.map(({ data }) => [data['hook'], data['call_id']]),
      [['deny', call.id]],
    );
    const request = JSON.parse(site.requests.find(({ line }) => line === 'POST /deny')?.body ?? '');
    assert.deepEqual(
      [request.event, request.tool, request.input, request.agent],
      ['pre_tool_use', 'poke', { note: 'x' }, 'denied'],
    );

    const { turn_id } = await stack.worker.say('peeks', 'peek {"note":"x"}\nthen\nDone.', {
      agent: 'denied',
    });
    await stack.worker.ended(turn_id);
    assert.deepEqual(
      (await stack.worker.calls(turn_id)).map(({ ok }) => ok),
      [true],
    );
  });

  it('change what is called, one on what the other left, and the change is judged by the rules', async () => {
    const { call } = await poke('changed');
    assert.deepEqual([call.ok, call.args], [true, { note: 'changed' }]);
    assert.deepEqual(
      call.hooks.map((run: { changed?: string[] }) => run.changed),
      [undefined, ['note']],
    );
    const denied = await poke('forbidden');
    assert.deepEqual(
      [denied.call.code, denied.call.reason, denied.call.args],
      ['PermissionDenied', 'never', { note: 'forbidden' }],
    );
    assert.equal((await poke('wrong')).call.code, 'InvalidArgs');
    const before = site.requests.length;
    assert.equal((await poke('changed', 'forbidden')).call.reason, 'never');
    assert.equal(site.requests.length, before, 'what the rules deny is asked about no more');
  });

  it('put a call to people, who see what the hooks have left of it', async () => {
    const { turn_id } = await stack.worker.say('asks', 'poke {"note":"x"}\nthen\nDone.', { agent: 'asked' });
    const id = await stack.worker.approvalOf('asks');
    const { body } = await stack.ask('GET', `/v1/approvals/${id}`);
    assert.deepEqual([body.args, body.reason], [{ note: 'changed' }, 'somebody should look']);
    await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision: 'approve' } });
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    assert.deepEqual(
      (await stack.worker.calls(turn_id)).map(({ ok }) => ok),
      [true],
    );
  });

  it('deny when they fail, are late, or answer what nobody understands', async () => {
    for (const [agent, why] of [
      ['odd', /the hook odd failed: /],
      ['broken', /it answered 500/],
      ['late', /did not answer in time/],
      ['failing', /it ended with 1/],
      ['mumbled', /neither ALLOW, ASK nor DENY/],
    ] as const) {
      const { call } = await poke(agent);
      assert.equal(call.code, 'PermissionDenied', agent);
      assert.match(call.reason, why);
    }
  });

  it('are commands where the agent’s commands run, and questions to a model, which is paid for', async () => {
    assert.equal((await poke('command')).call.ok, true);
    assert.match((await poke('command', 'blocked')).call.reason, /no blocked things/);
    assert.equal((await poke('judged')).call.ok, true);
    assert.equal((await poke('judged', 'secretive')).call.reason, 'it is secretive');
    const { rows } = await stack.pool.query(
      `select kind from model_uses where kind = 'hook' and agent_key = 'judged'`,
    );
    assert.equal(rows.length, 2);
  });

  it('stand before agents that an agent starts', async () => {
    const { turn_id } = await stack.worker.say('spawns', 'spawn {"task":"look"}\nthen\nDone.', {
      agent: 'spawns',
    });
    await stack.worker.ended(turn_id);
    const [call] = await stack.worker.calls(turn_id);
    assert.deepEqual([call?.tool, call?.code], ['spawn', 'PermissionDenied']);
    assert.equal(call?.result, 'PermissionDenied: spawn blocked by hook policy: not on a Sunday');
    const unheard = await stack.worker.say('unheard', 'spawn {"task":"look"}\nthen\nDone.', {
      agent: 'unheard',
    });
    await stack.worker.ended(unheard.turn_id);
    const [failed] = await stack.worker.calls(unheard.turn_id);
    assert.equal(
      failed?.result,
      'PermissionDenied: subagent_start hook error: the hook command: exit 3 failed: it ended with 3',
    );
  });

  it('change what a user says, or withhold it from the model for good', async () => {
    const { turn_id } = await stack.worker.say('heard', 'hello', { agent: 'heard' });
    await stack.worker.ended(turn_id);
    assert.equal((await stack.worker.calls(turn_id))[0]?.summary, 'poke: from a hook');

    const silenced = await stack.worker.say('silenced', 'my number is 4711', { agent: 'silenced' });
    const turn = await stack.worker.ended(silenced.turn_id);
    assert.deepEqual(
      [turn.status, turn.error],
      ['failed', { code: 'HookDenied', message: 'not on a Sunday' }],
    );
    assert.equal(turn.text, 'This turn was ended by a hook: not on a Sunday.');
    assert.deepEqual(
      (await stack.worker.heard('silenced')).map(({ text }) => text),
      ['[withheld: not on a Sunday]'],
    );
  });

  it('are asked once as a session begins', async () => {
    for (const text of ['one', 'two']) {
      const { turn_id } = await stack.worker.say('begun', text, { agent: 'begun' });
      await stack.worker.ended(turn_id);
    }
    const requests = site.requests
      .map(({ body }) => JSON.parse(body))
      .filter(({ agent }) => agent === 'begun');
    assert.deepEqual(
      requests.map(({ event, prompt }) => [event, prompt]),
      [['session_start', 'one']],
    );
  });

  it('are asked again as long as they deny the beginning', async () => {
    for (const text of ['one', 'two', 'three']) {
      const { turn_id } = await stack.worker.say('unbegun', text, { agent: 'unbegun' });
      const { status, error } = await stack.worker.ended(turn_id);
      assert.deepEqual([status, error?.code], ['failed', 'HookDenied'], text);
    }
    const { status } = await stack.ask('POST', '/v1/tools/datetime/invoke', {
      body: { agent: 'unbegun', session_key: 'unbegun', args: {} },
    });
    assert.equal(status, 200);
    const { turn_id } = await stack.worker.say('unbegun', 'four', { agent: 'unbegun' });
    assert.equal((await stack.worker.ended(turn_id)).error?.code, 'HookDenied');
  });

  it('are asked about a message that was stopped before they had answered, before a model reads it', async () => {
    const first = await stack.worker.say('hanging', 'unseen', { agent: 'hanging' });
    await stack.worker.until('the hook to be asked', () =>
      site.requests.some(({ body }) => body.includes('unseen')) ? true : undefined,
    );
    const stop = { turn_id: first.turn_id, level: 'now', by: 'ann' } as const;
    await stack.worker.temporal.stop(stack.tenant, 'hanging', stop);
    assert.equal((await stack.worker.ended(first.turn_id)).status, 'stopped');
    const second = await stack.worker.say('hanging', 'next', { agent: 'hanging' });
    assert.equal((await stack.worker.ended(second.turn_id)).error?.code, 'HookDenied');
    for (const { text } of await stack.worker.heard('hanging')) assert.match(text, /^\[withheld: /);
  });

  it('say of an answer that is not valid which field of it is wrong', async () => {
    const { call } = await poke('odd', 'y');
    assert.equal(call.reason, 'the hook odd failed: its answer is not valid: verdict: is not a known field');
  });

  it('of a tenant hold for each agent, also for what a person makes of a call, and explain names them', async () => {
    const { turn_id } = await stack.worker.say('edits', 'poke {"note":"x"}\nthen\nDone.', {
      agent: 'edited',
    });
    const id = await stack.worker.approvalOf('edits');
    const set = await stack.ask('PUT', '/v1/policy', {
      body: { hooks: [http('/deny', { tools: ['poke'] })] },
    });
    assert.equal(set.status, 200, JSON.stringify(set.body));
    try {
      const edit = { decision: 'edit', args: { note: 'y' } };
      const refused = await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: edit });
      assert.equal(refused.status, 422);
      assert.match(refused.body.detail, /the edited call is denied: not on a Sunday/);
      const explained = await stack.ask('POST', '/v1/explain/tool', {
        body: { tool: 'poke', args: { note: 'x' }, agent: 'edited' },
      });
      assert.match(JSON.stringify(explained.body), /"hooks":\["deny"\]/);
    } finally {
      await stack.ask('PUT', '/v1/policy', { body: {} });
    }
    await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision: 'approve' } });
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
  });

  it('that could never run are refused where they are written', async () => {
    for (const [hook, why] of [
      [{ event: 'pre_tool_use', type: 'http' }, /needs url/],
      [
        { event: 'pre_tool_use', type: 'command', command: 'x', url: 'https://example.com' },
        /url says nothing of a hook of type command/,
      ],
      [{ event: 'pre_tool_use', type: 'code', code: 'a/b', model: 'c/d' }, /model says nothing/],
      [{ event: 'pre_tool_use', type: 'command', command: ' \n' }, /more than blanks/],
      [{ event: 'pre_tool_use', type: 'prompt', prompt: ' ' }, /more than blanks/],
      [
        { event: 'pre_tool_use', type: 'http', url: 'https://example.com', headers: { 'X-A': 'a\r\nb: c' } },
        /one line/,
      ],
      [
        { event: 'pre_tool_use', type: 'http', url: 'https://example.com', headers: { 'X-A': '✓' } },
        /a header can have/,
      ],
      [{ event: 'user_prompt_submit', type: 'prompt', prompt: 'x', tools: ['exec'] }, /tools says nothing/],
      [{ event: 'pre_tool_use', type: 'command', command: 'x', timeout_seconds: 60 }, /10/],
    ] as const) {
      const refused = await stack.ask('PATCH', '/v1/agents/denied', { body: { hooks: [hook] } });
      assert.equal(refused.status, 400);
      assert.match(JSON.stringify(refused.body), why);
    }
  });

  it('R5 that may not be reached, or have no model, are refused where they are written', async () => {
    const server = (url: string) => ({ event: 'pre_tool_use', type: 'http', url });
    const hooks = ['https://example.com/x', 'http://169.254.169.254/', 'http://u:p@example.com/'].map(server);
    for (const [method, path, body, place] of [
      ['PATCH', '/v1/agents/denied', { hooks }, 'body'],
      ['POST', '/v1/agents', { key: 'reached', model: 'rehearsal/follow', hooks }, 'body'],
      ['PUT', '/v1/policy', { hooks }, 'body'],
      ['POST', '/v1/rollouts', { agent: 'denied', share: 10, change: { hooks } }, 'body/change'],
    ] as const) {
      const refused = await stack.ask(method, path, { body });
      assert.equal(refused.status, 422, JSON.stringify(refused.body));
      assert.deepEqual(
        refused.body.errors.map(({ pointer }: { pointer: string }) => pointer),
        [1, 2].map((at) => `${place}/hooks/${at}/url`),
      );
    }
    const hook = { event: 'pre_tool_use', type: 'prompt', prompt: 'Is it safe?', model: 'nobody/judge' };
    for (const [method, path, body] of [
      ['POST', '/v1/agents', { key: 'judged', model: 'rehearsal/follow', hooks: [hook] }],
      ['PUT', '/v1/policy', { hooks: [hook] }],
    ] as const) {
      const refused = await stack.ask(method, path, { body });
      assert.deepEqual([refused.status, refused.body.errors[0].pointer], [422, 'body/hooks/0/model']);
      assert.match(refused.body.detail, /provider of "nobody\/judge" is not configured/);
    }
    const blocked = { blocked_domains: ['example.com'] };
    const narrowed = await stack.ask('PUT', '/v1/policy', {
      body: { egress: blocked, hooks: hooks.slice(0, 1) },
    });
    assert.match(narrowed.body.detail, /example\.com is on the list of blocked domains/);
  });
});
