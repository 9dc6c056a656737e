/** gateway: the deployment for the agents of its operators. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('TL gateway, the tool', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({ settings: 'exec: { ask: off }' });
  });
  after(() => stack.stop());

  const ask = async (text: string, key?: string): Promise<string> => {
    const { body } = await stack.ask('POST', '/v1/sessions/ops/messages', {
      body: { text },
      ...(key !== undefined && { key }),
    });
    await stack.worker.ended(body.turn_id);
    return body.turn_id;
  };
  const call = async (args: object, key?: string): Promise<any> =>
    (await stack.worker.calls(await ask(`gateway ${JSON.stringify(args)}`, key)))[0];

  it('tells an admin’s agent what runs and what is set, and reads the settings again', async () => {
    await stack.worker.until('all that runs', async () => {
      const { postgres, temporal } = JSON.parse((await call({ action: 'status' })).result);
      return postgres === 'ok' && temporal === 'ok' ? true : undefined;
    });
    assert.equal((await call({ action: 'config.get', path: 'exec.ask' })).result, '"off"');
    assert.equal((await call({ action: 'config.get', path: 'exec.none' })).code, 'NotFound');
    await writeFile(stack.worker.settingsFile, 'exec: { ask: always }');
    const { applied } = JSON.parse((await call({ action: 'reload' })).result);
    assert.deepEqual(applied, ['exec.ask']);
    assert.equal((await call({ action: 'config.get', path: 'exec.ask' })).result, '"always"');
    await writeFile(stack.worker.settingsFile, 'exec: { ask: perhaps }');
    const refused = await call({ action: 'reload' });
    assert.equal(refused.code, 'InvalidArgs');
    assert.match(refused.result, /Nothing was applied.*exec\.ask/s);
  });

  it('is refused to a turn of a key without the scope, and of nobody’s', async () => {
    const key = await stack.makeKey(['read', 'run']);
    for (const action of ['status', 'config.get', 'reload'])
      assert.equal((await call({ action }, key)).code, 'PermissionDenied');
    const { turn_id } = await stack.worker.say('foreign', 'gateway {"action":"status"}');
    await stack.worker.ended(turn_id);
    assert.equal((await stack.worker.calls(turn_id))[0]?.code, 'PermissionDenied');
  });

  it('SA-3: a subagent has none', async () => {
    await ask(`spawn ${JSON.stringify({ task: 'gateway {"action":"status"}', mode: 'sync' })}`);
    const { rows } = await stack.pool.query(
      `select verdict, code from tool_calls where tenant_id = $1 and tool = 'gateway' and session_key like 'subagent:%'`,
      [stack.tenant],
    );
    assert.deepEqual(rows, [{ verdict: 'deny', code: 'PermissionDenied' }]);
  });
});
