/** Hooks written in TypeScript, run by a real process before the calls of turns, and killed (IN-12, HO). */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { eventually } from '#test/support/processes.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { startToolHost } from './tool-host.ts';

const SECRET = 'rules-0123456789-abcdef';

const HOOKS: Readonly<Record<string, string>> = {
  /** Of calls of `write_file`, by their path. */
  paths: `hook({ event: 'pre_tool_use', tools: ['write_file'], secrets: ['rules'], timeout: 3,
    async run({ input, agent, tool, session_key }, { secrets, signal }) {
      const path = String(input.path);
      note([agent, tool, session_key, path].join(' '));
      if (path === 'deny.md') return { decision: 'deny', reason: 'the rules ' + secrets.rules + ' forbid it' };
      if (path === 'ask.md') return { decision: 'ask', reason: 'somebody must look' };
      if (path === 'other.md') return { input: { ...input, path: 'moved.md' } };
      if (path === 'throw.md') throw new Error('no ' + secrets.rules);
      if (path === 'wrong.md') return { decision: 'perhaps' } as never;
      if (path === 'hang.md') await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('over'))));
    } })`,
  prompts: `hook({ event: 'user_prompt_submit',
    run: ({ prompt }) => prompt.includes('forbidden') ? { decision: 'deny', reason: 'not here' } : { prompt: prompt.replace('PATH', 'plain.md') } })`,
};

describe('IN-12 hooks written in TypeScript', { timeout: 120_000 }, () => {
  let stack: Stack;
  let folder: string;
  let host: ChildProcess;
  const witness = (): string =>
    existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8') : '';
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'my-agents-'));
    mkdirSync(join(folder, 'hooks'));
    for (const [name, text] of Object.entries(HOOKS))
      writeFileSync(
        join(folder, 'hooks', `${name}.ts`),
        `import { appendFileSync } from 'node:fs';\nimport { hook } from 'tempoclaw';\nconst note = (text: string) => appendFileSync(process.env.WITNESS ?? '', text + '\\n');\nexport default ${text};\n`,
      );
    stack = await startStack({
      agents: [
        {
          key: 'hooked',
          hooks: [
            {
              event: 'pre_tool_use',
              type: 'code',
              code: 'shop/paths',
              tools: ['write_file'],
              timeout_seconds: 3,
            },
            { event: 'user_prompt_submit', type: 'code', code: 'shop/prompts' },
          ],
        },
        {
          key: 'calls',
          hooks: [{ event: 'pre_tool_use', type: 'code', code: 'shop/paths', tools: ['write_file'] }],
        },
        { key: 'lost', hooks: [{ event: 'pre_tool_use', type: 'code', code: 'shop/nowhere' }] },
      ],
    });
    await stack.ask('PUT', '/v1/secrets/rules', { body: { value: SECRET } });
    host = (await startToolHost(stack, folder, 'shop')).child;
  });
  after(async () => {
    host?.kill('SIGKILL');
    await stack?.stop();
    rmSync(folder, { recursive: true });
  });

  async function begun(session: string, text: string, agent = 'hooked'): Promise<string> {
    const { body } = await stack.ask('POST', `/v1/sessions/${session}/messages`, { body: { text, agent } });
    return body.turn_id;
  }
  const writing = (path: string): string => `write_file ${JSON.stringify({ path, content: 'x' })}`;
  async function callOf(session: string, text: string, agent?: string) {
    const turn = await begun(session, text, agent);
    await stack.worker.ended(turn);
    return (await stack.worker.calls(turn)).at(-1) ?? assert.fail('no call');
  }
  async function argumentsOf(session: string): Promise<string> {
    const { rows } = await stack.worker.pool.query('select args from tool_calls where session_key = $1', [
      session,
    ]);
    return JSON.stringify(rows);
  }

  it('see the call, and allow it, deny it with a reason, or change it', async () => {
    const allowed = await callOf('allow', writing('fine.md'));
    assert.equal(allowed.ok, true);
    assert.match(witness(), /^hooked write_file allow fine\.md$/m);
    const denied = await callOf('deny', writing('deny.md'));
    assert.deepEqual([denied.ok, denied.code], [false, 'PermissionDenied']);
    assert.match(denied.result ?? '', /the rules .* forbid it/);
    const changed = await callOf('change', writing('other.md'));
    assert.equal(changed.ok, true);
    assert.match(await argumentsOf('change'), /moved\.md/);
  });

  it('SC-3 their secrets are hidden in what they say', async () => {
    const { rows } = await stack.worker.pool.query(
      'select hooks, result from tool_calls where hooks is not null',
    );
    assert.ok(rows.length > 0);
    assert.doesNotMatch(JSON.stringify(rows), new RegExp(SECRET));
  });

  it('ask people', async () => {
    const turn = await begun('ask', writing('ask.md'));
    const approval = await stack.worker.approvalOf('ask');
    await stack.ask('POST', `/v1/approvals/${approval}/decision`, { body: { decision: 'approve' } });
    await stack.worker.ended(turn);
    assert.equal((await stack.worker.calls(turn)).at(-1)?.ok, true);
  });

  it('judge and change prompts', async () => {
    await callOf('prompt', writing('PATH'));
    assert.match(await argumentsOf('prompt'), /plain\.md/);
    const turn = await begun('withheld', 'forbidden words');
    const ended = await stack.worker.ended(turn);
    assert.equal(ended.status, 'failed');
  });

  const failing: Readonly<Record<string, RegExp>> = {
    'throw.md': /the hook .* failed: no /,
    'wrong.md': /failed/,
    'hang.md': /did not answer in time|did not answer within/,
  };
  for (const [path, words] of Object.entries(failing))
    it(`deny when they fail: ${path}`, async () => {
      const call = await callOf(`fail-${path}`, writing(path));
      assert.deepEqual([call.ok, call.code], [false, 'PermissionDenied']);
      assert.match(call.result ?? '', words);
      assert.doesNotMatch(call.result ?? '', new RegExp(SECRET));
    });

  it('deny when the host has no such hook, and say how to start it', async () => {
    const call = await callOf('nowhere', writing('a.md'), 'lost');
    assert.equal(call.code, 'PermissionDenied');
    assert.match(
      call.result ?? '',
      /shop has no such hook; start it with: npx tempoclaw tools serve --host shop/,
    );
  });

  it('DU-2 deny when the host is killed while one runs, and go on with the next process', async () => {
    const turn = await begun('killed', writing('hang.md'));
    assert.ok(await eventually(() => witness().includes('killed hang.md')));
    host.kill('SIGKILL');
    await once(host, 'exit');
    await stack.worker.ended(turn);
    assert.equal((await stack.worker.calls(turn)).at(-1)?.code, 'PermissionDenied');
    const away = await callOf('away', writing('fine.md'), 'calls');
    assert.equal(away.code, 'PermissionDenied');
    assert.match(
      away.result ?? '',
      /shop is not running; start it with: npx tempoclaw tools serve --host shop/,
    );
    host = (await startToolHost(stack, folder, 'shop')).child;
    assert.equal((await callOf('back', writing('fine.md'))).ok, true);
  });
});
