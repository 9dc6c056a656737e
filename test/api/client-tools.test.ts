import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

const WEATHER = {
  name: 'get-weather',
  description: 'Weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

describe('IN-3 tools that the sender of a message runs', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  const say = (session: string, text: string, more: object = {}) =>
    stack.ask('POST', `/v1/sessions/${session}/messages?wait=60`, {
      body: { text, client_tools: [WEATHER], ...more },
    });
  const decide = (id: string, body: object) => stack.ask('POST', `/v1/approvals/${id}/decision`, { body });
  async function results(turn: string): Promise<string[]> {
    const { body } = await stack.ask('GET', `/v1/turns/${turn}/tool-calls`);
    return body.data.map(
      ({ status, code, preview }: Record<string, string>) => `${status} ${code} ${preview}`,
    );
  }

  it('wait for their result, which only an answer in their place can be', async () => {
    const { status, body } = await say('weather', 'get-weather {"city":"Oslo"}');
    assert.deepEqual([status, body.status], [202, 'waiting_approval']);
    const id = await stack.worker.approvalOf('weather');
    const shown = (await stack.ask('GET', `/v1/approvals/${id}`)).body;
    assert.deepEqual(
      [shown.tool, shown.args, shown.terms.client_tool],
      ['get-weather', { city: 'Oslo' }, true],
    );
    for (const decision of ['approve', 'approve_always', 'edit']) {
      const refused = await decide(id, { decision, ...(decision === 'edit' && { args: { city: 'Rome' } }) });
      assert.equal(refused.status, 422);
      assert.match(refused.body.detail, /runs where the message came from/);
    }
    assert.equal((await decide(id, { decision: 'respond', text: '12 degrees' })).status, 200);
    const turn = await stack.worker.ended(body.turn_id);
    assert.equal(turn.status, 'completed');
    assert.match(turn.text ?? '', /EXTERNAL_UNTRUSTED_CONTENT[^]*12 degrees/);
  });

  it('are refused where the agent has a tool of that name', async () => {
    const { status, body } = await say('taken', 'Hello.', { client_tools: [WEATHER, { name: 'exec' }] });
    assert.equal(status, 422);
    assert.equal(body.errors[0].pointer, 'body/client_tools/exec');
  });

  it('hold no secret, which the model would read', async () => {
    await stack.ask('PUT', '/v1/secrets/WEATHER_KEY', { body: { value: 'sunny-7Yx2-secret-Qk91' } });
    const description = 'Uses sunny-7Yx2-secret-Qk91';
    const { status } = await say('secret', 'Hello.', { client_tools: [{ ...WEATHER, description }] });
    assert.equal(status, 422);
  });

  it('are of that turn only, and of none that it starts', async () => {
    const { body } = await say('child', 'spawn {"task":"get-weather {\\"city\\":\\"Oslo\\"}","mode":"sync"}');
    assert.equal((await stack.worker.ended(body.turn_id)).status, 'completed');
    const next = await stack.ask('POST', '/v1/sessions/child/messages?wait=60', {
      body: { text: 'get-weather {"city":"Oslo"}' },
    });
    assert.equal(next.body.status, 'completed');
    const { rows } = await stack.pool.query(
      `select 1 from approvals where tenant_id = $1 and tool = 'get-weather' and session_key <> 'weather'`,
      [stack.worker.tenant],
    );
    assert.equal(rows.length, 0);
  });

  it('are denied where a rule denies them', async () => {
    await stack.ask('POST', '/v1/agents', {
      body: { key: 'closed', model: 'rehearsal/follow', tools: { deny: ['group:client'] } },
    });
    const { body } = await say('closed', 'get-weather {"city":"Oslo"}', { agent: 'closed' });
    assert.equal(body.status, 'completed');
    assert.match((await results(body.turn_id)).join('\n'), /PermissionDenied/);
  });
});
