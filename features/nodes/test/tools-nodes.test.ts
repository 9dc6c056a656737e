/** A call goes the usual way of all tools, and invokes a machine once. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { tool } from '../tools/nodes.ts';
import { NODE_LIMITS } from '../contract/node.ts';
import type { NodeResult } from '../schema.ts';
import { createCatalog } from '#policy/catalog.ts';
import { replayOf } from '#policy/define-tool.ts';
import { connectFakeNode, type FakeNode, joinFakeNode } from './fake-node.ts';
import type { CallRow } from '#test/support/live-worker.ts';
import { eventually } from '#test/support/processes.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { toolBench } from '#test/support/tool-call.ts';

const invoking = (node: string, more: object = {}): string =>
  `nodes ${JSON.stringify({ action: 'invoke', node, capability: 'lamp.switch', params: { on: true }, ...more })}`;

describe('TL nodes', () => {
  let stack: Stack;
  let lamp: FakeNode;
  before(async () => {
    stack = await startStack({
      agents: [
        {
          key: 'careful',
          tools: {
            ask: [{ tool: 'nodes', args: { capability: 'lamp.*' } }],
            rules: [{ tool: 'nodes', args: { capability: 'door.*' }, decision: 'deny', reason: 'not doors' }],
          },
        },
      ],
    });
    lamp = await connected('lamp');
  });
  after(async () => {
    lamp.socket.close();
    await stack.stop();
  });

  async function connected(name: string, token?: string, journal?: string): Promise<FakeNode> {
    const fake = await connectFakeNode(stack, {
      token: token ?? (await joinFakeNode(stack, name)),
      capabilities: ['lamp.switch', 'door.open'],
      ...(journal ? { journal } : {}),
    });
    assert.ok(await eventually(async () => (await shown(name)) === 'connected'));
    return fake;
  }
  const shown = async (name: string): Promise<string> =>
    (await stack.ask('GET', `/v1/nodes/${name}`)).body.state;

  const started = async (
    text: string,
    agent = 'main',
  ): Promise<{ readonly session: string; readonly turn: string }> => {
    const session = randomUUID();
    const { body } = await stack.ask('POST', `/v1/sessions/${session}/messages`, { body: { text, agent } });
    return { session, turn: body.turn_id };
  };
  async function ended(turn: string): Promise<CallRow> {
    await stack.worker.ended(turn);
    return (await stack.worker.calls(turn)).at(-1) ?? assert.fail('no call');
  }
  /** The result of one call that the node answers like this. */
  async function answered(result: NodeResult, text = invoking('lamp')): Promise<CallRow> {
    const { turn } = await started(text);
    lamp.answer(idOf(await lamp.next('invoke')), result);
    return ended(turn);
  }
  const idOf = ({ id }: { readonly id: string }): string => id;

  it('is list, describe and invoke, and says what an action lacks', async (t) => {
    assert.equal(tool.name, 'nodes');
    const bench = await toolBench(t);
    for (const args of [{ action: 'describe' }, { action: 'invoke' }, { action: 'invoke', node: 'lamp' }])
      assert.partialDeepStrictEqual(await bench.run(tool, args), { ok: false, code: 'InvalidArgs' });
    const params = { text: 'x'.repeat(NODE_LIMITS.params) };
    const many = { action: 'invoke', node: 'lamp', capability: 'lamp.switch', params };
    assert.partialDeepStrictEqual(await bench.run(tool, many), { ok: false, code: 'InvalidArgs' });
    assert.equal(createCatalog([tool]).parse('nodes', { action: 'list', timeout: 601 }).ok, false);
  });

  it('only looks where it lists, describes or reads; what else it asks for is looked for before it is done again', () => {
    const of = (capability?: string): string =>
      replayOf(tool, capability === undefined ? { action: 'list' } : { action: 'invoke', capability });
    assert.deepEqual(
      [of(), of('system.info'), of('file.read'), of('system.run'), of('lamp.switch')],
      ['readonly', 'readonly', 'readonly', 'verify', 'verify'],
    );
  });

  it('lists and describes what nodes say of themselves, marked as from outside', async () => {
    const listed = await ended((await started('nodes {"action":"list"}')).turn);
    assert.match(
      listed.result ?? '',
      /EXTERNAL_UNTRUSTED_CONTENT[^]*lamp: connected; test; lamp.switch, door.open/,
    );
    const described = await ended((await started('nodes {"action":"describe","node":"lamp"}')).turn);
    assert.match(described.result ?? '', /EXTERNAL_UNTRUSTED_CONTENT[^]*lamp.switch: Does lamp.switch/);
    const missing = await ended((await started('nodes {"action":"describe","node":"x"}')).turn);
    assert.match(missing.result ?? '', /NotFound: there is no node "x"; there are lamp/);
  });

  it('asks the node, and gives what it says: marked, scrubbed, with its code', async () => {
    const secret = `ghp_${'aB3'.repeat(12)}`;
    const call = await answered({ ok: true, text: `It is on. ${secret}` });
    assert.equal(call.ok, true, call.result ?? '');
    assert.match(call.result ?? '', /source=node_lamp>>>[^]*It is on\./);
    assert.ok(!call.result?.includes(secret));
    const { rows } = await stack.pool.query('select t::text as row from node_invocations t');
    assert.ok(rows.length > 0 && rows.every(({ row }) => !row.includes(secret)));
    const refused = await answered({ ok: false, code: 'PermissionDenied', text: 'not that one' });
    assert.equal(refused.code, 'PermissionDenied');
  });

  it('what it does not declare is not sent', async () => {
    const call = await ended((await started(invoking('lamp', { capability: 'system.run' }))).turn);
    assert.match(
      call.result ?? '',
      /PermissionDenied: lamp cannot be asked for system.run; it can for lamp.switch/,
    );
  });

  it('a rule denies it, and another asks people first: nothing is sent before they agree', async () => {
    const denied = await ended(
      (await started(invoking('lamp', { capability: 'door.open' }), 'careful')).turn,
    );
    assert.match(denied.result ?? '', /not doors/);
    const lastHeardAt = lamp.heard.length;
    const { session, turn } = await started(invoking('lamp'), 'careful');
    const approval = await stack.worker.approvalOf(session);
    assert.equal(lamp.heard.length, lastHeardAt);
    await stack.ask('POST', `/v1/approvals/${approval}/decision`, { body: { decision: 'approve' } });
    lamp.answer(idOf(await lamp.next('invoke')), { ok: true, text: 'on' });
    assert.equal((await ended(turn)).ok, true);
  });

  it('one that is away is waited for, and told as not sent when it does not come', async () => {
    const token = await joinFakeNode(stack, 'away');
    (await connected('away', token)).socket.close();
    assert.ok(await eventually(async () => (await shown('away')) === 'away'));
    const late = await ended((await started(invoking('away', { timeout: 1 }))).turn);
    assert.match(late.result ?? '', /^Timeout: not sent to away: it is away since 2.*Nothing was done there/);

    const { turn } = await started(invoking('away'));
    const back = await connected('away', token);
    back.answer(idOf(await back.next('invoke')), { ok: true, text: 'here' });
    assert.equal((await ended(turn)).ok, true);
    assert.equal(back.heard.length, 1);
    back.socket.close();
  });

  it('a result that comes over another connection is taken', async () => {
    const token = await joinFakeNode(stack, 'breaks');
    const journal = randomUUID();
    const first = await connected('breaks', token, journal);
    const { turn } = await started(invoking('breaks'));
    const id = idOf(await first.next('invoke'));
    first.socket.terminate();
    const second = await connectFakeNode(stack, { token, journal });
    assert.equal(idOf(await second.next('invoke')), id);
    second.answer(id, { ok: true, text: 'done before' });
    assert.match((await ended(turn)).result ?? '', /done before/);
    second.socket.close();
  });

  it('what was sent and not answered is told as unknown', async () => {
    const silent = await connected('silent');
    const call = await ended((await started(invoking('silent', { timeout: 1 }))).turn);
    assert.equal(call.code, 'OutcomeUnknown');
    assert.equal(silent.heard.filter(({ type }) => type === 'invoke').length, 1);
    silent.socket.close();
  });

  it('a stop of the turn reaches the node', async () => {
    const { session, turn } = await started(invoking('lamp'));
    const id = idOf(await lamp.next('invoke'));
    await stack.ask('POST', `/v1/sessions/${session}/stop`, { body: {} });
    assert.equal(idOf(await lamp.next('cancel')), id);
    await stack.worker.ended(turn);
  });

  it('it has a bounded number at once, and the rest as places get free', async () => {
    const few = await connected('few');
    const count = NODE_LIMITS.atOnce + 2;
    const { turn } = await started(Array.from({ length: count }, () => invoking('few')).join('\n'));
    const ids: string[] = [];
    for (let at = 0; at < NODE_LIMITS.atOnce; at += 1) ids.push(idOf(await few.next('invoke')));
    assert.equal(few.heard.length, NODE_LIMITS.atOnce);
    for (let at = 0; at < count; at += 1) {
      few.answer(ids[at] ?? idOf(await few.next('invoke')), { ok: true, text: 'on' });
      if (at === 0) ids.push(idOf(await few.next('invoke')));
    }
    await stack.worker.ended(turn);
    const calls = await stack.worker.calls(turn);
    assert.deepEqual(
      calls.map(({ ok }) => ok),
      Array.from({ length: count }, () => true),
    );
    few.socket.close();
  });

  it('one that is revoked under a call is told as such', async () => {
    const gone = await connected('gone');
    const { turn } = await started(invoking('gone'));
    await gone.next('invoke');
    await stack.ask('DELETE', '/v1/nodes/gone');
    const call = await ended(turn);
    assert.equal(call.code, 'OutcomeUnknown', call.result ?? '');
    assert.match(call.result ?? '', /the node was revoked; it may have been done/);
  });
});
