/** VF-2: what users state in conversations is in memory afterwards, whether or not the agent wrote it down. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { indexWorkflowId } from '../index-id.ts';
import { startIndexing } from '../temporal.ts';
import { sweepId, SWEEP } from '#domain/sweep.ts';
import { runCli } from '#test/cli/support/run-cli.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const KEY = `sk-ant-api03-${'Ab1'.repeat(31)}-AA`;

const statement = (text: string, about: string, message: string): string =>
  JSON.stringify({ statements: [{ about, text, message: Number(message), single: true }] });

/** Reads conversations by what is said in them. */
const READS = `
rules:
  - when: { user: it falls over }
    reply: { error: { code: Overloaded, message: no } }
  - when: { user: Moreau, offers: record_statements }
    reply: { calls: [{ tool: record_statements, args: '${statement('Ann has Dr Moreau as her doctor.', 'doctor of Ann', '1').replaceAll("'", "''")}' }], usage: { input: 100, output: 10 } }
  - when: { user: Dr Bell }
    reply: { calls: [{ tool: record_statements, args: '${statement(`Ann has Dr Bell as her doctor. ${KEY}`, 'doctor of Ann', '1')}' }], usage: { input: 100, output: 10 } }
  - reply: { calls: [{ tool: record_statements, args: { statements: [{ about: x, text: never, message: 99 }, 7] } }] }
`;

describe('VF-2 what is said in conversations', () => {
  let stack: Stack;
  before(async () => {
    const memory = { model: 'rehearsal/reads' };
    stack = await startStack({
      scripts: { reads: READS },
      agents: [
        { key: 'keeps', memory },
        { key: 'forgets', memory: { ...memory, conversations: false } },
        { key: 'plain' },
        { key: 'looks', model: 'rehearsal/inspect', memory },
      ],
    });
  });
  after(() => stack.stop());

  async function say(session: string, text: string, agent: string, user = 'ann'): Promise<string> {
    const { turn_id } = await stack.worker.say(session, text, { agent, user });
    return (await stack.worker.ended(turn_id)).text ?? '';
  }

  /** Nobody has spoken for a while, and the sweep runs. */
  async function rest(agent: string): Promise<void> {
    await stack.pool.query(
      `update sessions set updated_at = now() - interval '20 minutes' where tenant_id = $1 and agent_key = $2`,
      [stack.tenant, agent],
    );
    await stack.worker.client.workflow.execute(SWEEP.type, {
      workflowId: `${sweepId(stack.worker.taskQueue)}/conversations`,
      taskQueue: stack.worker.taskQueue,
    });
    await stack.worker.until('every conversation to be read', async () => {
      const { rows } = await stack.pool.query(
        'select key from sessions where tenant_id = $1 and agent_key = $2 and recorded < position',
        [stack.tenant, agent],
      );
      return rows.length === 0 ? true : undefined;
    });
  }

  async function document(agent: string, name = 'conversations', user = 'ann') {
    const path = encodeURIComponent(`memory/${name}.md`);
    return stack.ask('GET', `/v1/agents/${agent}/files/${path}?user=${user}`);
  }
  async function lines(agent: string, name?: string, user?: string): Promise<readonly string[]> {
    const { body } = await document(agent, name, user);
    return String(body.text ?? '')
      .split('\n')
      .filter((line) => line.startsWith('- '));
  }

  it('is kept with its day, session and turn, found by a search, in the next prompt, and shown in the feed', async () => {
    const { turn_id } = await stack.worker.say('spring', 'I go to Dr Bell.', { agent: 'keeps', user: 'ann' });
    await stack.worker.ended(turn_id);
    assert.deepEqual(await lines('keeps'), [], 'not while people talk');
    await rest('keeps');
    const [line = '', ...more] = await lines('keeps');
    assert.equal(more.length, 0);
    assert.match(
      line,
      new RegExp(
        `^- since \\d{4}-\\d\\d-\\d\\d: Ann has Dr Bell as her doctor.* \\[doctor of Ann; session spring, ${turn_id}\\]$`,
      ),
    );
    assert.ok(!line.includes(KEY));
    const messages = (await stack.worker.events('spring')).filter(({ type }) => type === 'memory.recorded');
    assert.deepEqual(
      messages.map(({ turn_id: turn, data }) => ({ turn, ...data })),
      [{ turn: turn_id, path: 'memory/conversations.md', revision: 1, statements: 1 }],
    );
    await stack.worker.until('the index', async () => {
      const { body } = await stack.ask('GET', '/v1/agents/keeps/memory/status?user=ann');
      return body.documents === 1 && body.pending === 0 ? true : undefined;
    });
    const { turn_id: search } = await stack.worker.say('asks', 'memory_search {"query":"doctor of Ann"}', {
      agent: 'keeps',
      user: 'ann',
    });
    await stack.worker.ended(search);
    assert.match((await stack.worker.calls(search))[0]?.result ?? '', /Dr Bell/);
    const { rows } = await stack.pool.query(
      `select kind, input_tokens as tokens from model_uses where tenant_id = $1 and agent_key = 'keeps' and kind = 'memory'`,
      [stack.tenant],
    );
    assert.deepEqual(rows, [{ kind: 'memory', tokens: '100' }]);
  });

  it('takes the place of what was said before of the same, which stays, and undo takes that back for good', async () => {
    await say('summer', 'I have changed to Dr Moreau.', 'keeps');
    await rest('keeps');
    assert.deepEqual(
      (await lines('keeps')).map((line) => /Dr \w+/.exec(line)?.[0]),
      ['Dr Moreau', 'Dr Bell'],
    );
    const undo = 'files undo keeps memory/conversations.md --user ann'.split(' ');
    const { code, stderr } = await runCli([...undo, '--api-key', stack.key], { url: stack.url });
    assert.equal(code, 0, stderr);
    await rest('keeps');
    assert.deepEqual(
      (await lines('keeps')).map((line) => /Dr \w+/.exec(line)?.[0]),
      ['Dr Bell'],
    );
  });

  it('is in the prompt of later turns of that user alone', async () => {
    await say('told', 'I go to Dr Bell.', 'looks');
    await rest('looks');
    assert.match(await say('later', 'system', 'looks'), /\(memory\/conversations\.md\)[\s\S]*Dr Bell/);
    assert.doesNotMatch(await say('theirs', 'system', 'looks', 'ben'), /Dr Bell/);
  });

  it('SC-4 is marked where the session had read from outside, in a document of its own', async () => {
    await say('outside-keeps', 'sessions_history {"session_key":"outside-keeps"}', 'keeps', 'eve');
    const { turn_id } = await stack.worker.say('outside-keeps', 'I go to Dr Bell.', {
      agent: 'keeps',
      user: 'eve',
    });
    await stack.worker.ended(turn_id);
    await rest('keeps');
    assert.deepEqual(await lines('keeps', 'conversations', 'eve'), []);
    const { body } = await document('keeps', 'conversations-outside', 'eve');
    assert.match(body.text, /Dr Bell/);
    assert.equal(body.outside, true);
  });

  it('is not kept where the agent’s setting says so, nor what nobody’s user said, nor what a model makes up', async () => {
    await say('off', 'I go to Dr Bell.', 'forgets');
    await say('nothing', 'hello', 'keeps', 'dan');
    await rest('forgets');
    await rest('keeps');
    assert.deepEqual(await lines('forgets'), []);
    assert.deepEqual(await lines('keeps', 'conversations', 'dan'), []);
  });

  it('costs nothing with rehearsal models, which keep plain sentences', async () => {
    await say('plain', 'Hello there. My favourite tea is green tea.', 'plain');
    await rest('plain');
    assert.match(
      (await lines('plain')).join('\n'),
      /The user’s favourite tea is green tea \[favourite tea of the user;/,
    );
  });

  it('waits while no model answers, and is kept once however many readings are begun', async () => {
    await say('down', 'it falls over', 'keeps', 'fay');
    const { turn_id } = await stack.worker.say('down', 'I go to Dr Bell.', { agent: 'keeps', user: 'fay' });
    await stack.worker.ended(turn_id);
    await stack.pool.query(
      `update sessions set updated_at = now() - interval '20 minutes' where tenant_id = $1 and key = 'down'`,
      [stack.tenant],
    );
    const scope = { tenant: stack.tenant, agent: 'keeps', user: 'fay' };
    await startIndexing(stack.worker.temporal, scope);
    await stack.worker.until('a reading that was given up', async () => {
      const { rows } = await stack.pool.query(
        `select recorded from sessions where tenant_id = $1 and key = 'down' and recorded = 0`,
        [stack.tenant],
      );
      return rows.length === 1 ? true : undefined;
    });
    const handle = stack.worker.client.workflow.getHandle(indexWorkflowId(scope));
    assert.equal((await handle.describe()).status.name, 'RUNNING');
    await handle.terminate('a worker was lost');
    await stack.pool.query(
      `update messages set text = 'well' where tenant_id = $1 and session_key = 'down' and text like 'it falls%'`,
      [stack.tenant],
    );
    await Promise.all([
      startIndexing(stack.worker.temporal, scope),
      startIndexing(stack.worker.temporal, scope),
    ]);
    await rest('keeps');
    assert.equal((await lines('keeps', 'conversations', 'fay')).length, 1);
  });
});
