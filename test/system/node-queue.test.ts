/**
 * Activities of Temporal invoke a real `tempoclaw node --over-temporal`; each invocation runs once, whatever is killed.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type CliRun, runCli, startCli } from '#test/cli/support/run-cli.ts';
import { createStand, type Stand } from '#test/support/faults.ts';
import { eventually } from '#test/support/processes.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

/** Reports that it runs, and continues until it may end. */
const HELD = 'echo ran >> $0.ran; while ! [ -e $0.go ]; do sleep 0.05; done; echo over $0';

interface Call {
  readonly id: string;
  readonly ok: boolean;
  readonly code: string | null;
  readonly result: string;
}

describe('TL nodes on a task queue of Temporal', { timeout: 300_000 }, () => {
  let stand: Stand;
  let state: string;
  let folder: string;
  let node: CliRun;
  const ends: (() => unknown)[] = [];
  before(async () => {
    const t = { after: (end: unknown) => void ends.push(end as () => unknown) };
    stand = await createStand({
      workers: 1,
      agents: [
        {
          key: 'asks',
          type: 'open',
          model: 'rehearsal/follow',
          tools: { ask: [{ tool: 'nodes', args: { capability: 'system.run' }, reason: 'it runs there' }] },
        },
      ],
    });
    state = await temporaryFolder(t);
    folder = await temporaryFolder(t);
  });
  after(async () => {
    node?.child.kill('SIGKILL');
    await stand?.close();
    for (const end of ends) await end();
  });

  const cli = (...args: string[]) =>
    runCli(args, { url: stand.apiUrl, env: { TEMPOCLAW_API_KEY: stand.tenants[0].key } });
  async function started(...args: string[]): Promise<void> {
    const values = ['--state-dir', state, '--folder', folder, '--allow-run', 'sh -c **', '--over-temporal'];
    node = startCli(['node', ...values, ...args], {
      env: { TEMPOCLAW_URL: '', TEMPORAL_ADDRESS: stand.temporalAddress() },
    });
    await node.sees(/known to http/);
  }
  async function killed(): Promise<void> {
    node.child.kill('SIGKILL');
    await node.ended;
  }

  /** Ends it as its owner does; nothing polls its queue any more. */
  async function away(): Promise<void> {
    node.child.kill('SIGTERM');
    await node.ended;
  }

  async function begun(args: object, agent = 'main'): Promise<string> {
    const id = randomUUID();
    return stand.say(stand.tenants[0], id, id, { text: `nodes ${JSON.stringify(args)}`, agent });
  }
  const ended = (turn: string): Promise<Call> =>
    stand.until(`the end of ${turn}`, async () => {
      const { rows } = await stand.pool.query<Call>(
        `select c.id, c.ok, c.code, c.result from tool_calls c join turns t on t.tenant_id = c.tenant_id and t.id = c.turn_id
         where t.id = $1 and t.ended_at is not null`,
        [turn],
      );
      return rows[0];
    });
  const running = (name: string, agent?: string, timeout = 120): Promise<string> => {
    const params = { command: 'sh', args: ['-c', HELD, name], cwd: '.' };
    return begun({ action: 'invoke', node: 'box', capability: 'system.run', params, timeout }, agent);
  };
  const lines = async (name: string): Promise<number> =>
    (await readFile(join(folder, `${name}.ran`), 'utf8').catch(() => '')).split('\n').length - 1;
  const hasBegun = async (name: string): Promise<void> =>
    assert.ok(await eventually(async () => (await lines(name)) === 1));
  const go = (name: string): Promise<void> => appendFile(join(folder, `${name}.go`), '');
  async function ranOnce(name: string, turn: string): Promise<void> {
    const { ok, result } = await ended(turn);
    assert.equal(ok, true, result);
    assert.match(result, new RegExp(`over ${name}`));
    assert.equal(await lines(name), 1);
  }
  const statusOf = async (call: string): Promise<string> =>
    (await stand.pool.query('select status from node_invocations where id = $1', [call])).rows[0]?.status;

  it('joins by its code, is listed, described and asked, and Temporal keeps nothing of it in clear', async () => {
    const { stdout } = await cli('nodes', 'invite', 'box');
    const code = / --code (\S+)/.exec(stdout)?.[1] ?? assert.fail(stdout);
    await started('--url', stand.apiUrl, '--code', code);
    assert.match((await cli('nodes')).stdout, /box +connected +system.info file.read system.run/);
    assert.match(
      (await ended(await begun({ action: 'list' }))).result,
      /box: connected; linux|box: connected; darwin/,
    );
    await writeFile(join(folder, 'tea-of-ann.txt'), 'Earl Grey');
    const request = {
      action: 'invoke',
      node: 'box',
      capability: 'file.read',
      params: { path: 'tea-of-ann.txt' },
    };
    const { id, ok, result } = await ended(await begun(request));
    assert.equal(ok, true, result);
    assert.match(result, /source=node_box[^]*Earl Grey/);
    assert.equal(await statusOf(id), 'done');
    const client = await stand.client();
    const kept = await client.activity.getHandle(`node/${stand.tenants[0].id}/${id}`).describe();
    assert.doesNotMatch(JSON.stringify(kept), /tea-of-ann|Earl Grey/);
    const { rows } = await stand.pool.query<{ id: string }>('select id from nodes');
    assert.equal(kept.taskQueue, `node/${stand.tenants[0].id}/${rows[0]?.id}`);
  });

  it('a person is asked before it runs, as for any node', async () => {
    const turn = await running('approved', 'asks');
    const approval = await stand.until('the question', async () => {
      const { rows } = await stand.pool.query<{ id: string }>('select id from approvals where turn_id = $1', [
        turn,
      ]);
      return rows[0]?.id;
    });
    assert.equal(await lines('approved'), 0);
    const decided = await stand.ask(stand.tenants[0], 'POST', `/v1/approvals/${approval}/decision`, {
      body: { decision: 'approve' },
    });
    assert.equal(decided?.status, 200);
    await go('approved');
    await ranOnce('approved', turn);
    // The owner of the machine sees what runs there.
    await node.sees(/^system\.run \{.*approved/m);
  });

  it('kill -9 of the worker that waits: the next one goes on waiting for the same', async () => {
    const turn = await running('worker');
    await hasBegun('worker');
    const [worker] = stand.workers;
    await worker?.kill();
    await worker?.start();
    await go('worker');
    await ranOnce('worker', turn);
  });

  it('a stop of the turn ends the command there', async () => {
    const turn = await running('stopped');
    await hasBegun('stopped');
    const [session] = (await stand.pool.query('select session_key from turns where id = $1', [turn])).rows;
    await stand.ask(stand.tenants[0], 'POST', `/v1/sessions/${session.session_key}/stop`, { body: {} });
    assert.equal((await ended(turn)).code, 'Cancelled');
    await node.sees(/system.run has ended: Cancelled/);
  });

  it('kill -9 of the node while it runs: the outcome is unknown, and it is not run again', async () => {
    const turn = await running('node');
    await hasBegun('node');
    await killed();
    const { id, code } = await ended(turn);
    assert.equal(code, 'OutcomeUnknown');
    assert.equal(await statusOf(id), 'unknown');
    await started();
    await go('node');
    assert.equal(await lines('node'), 1);
  });

  it('one that is away does it when it is back in time; one that stays away does nothing', async () => {
    await away();
    const late = await running('late');
    await stand.until('the invocation', async () => {
      const { rows } = await stand.pool.query(`select from node_invocations where status = 'sent'`);
      return rows.length > 0 ? true : undefined;
    });
    await started();
    await go('late');
    await ranOnce('late', late);
    await away();
    const { id, code, result } = await ended(await running('never', undefined, 1));
    assert.equal(code, 'Timeout', result);
    assert.match(result, /Nothing was done there/);
    assert.equal(await statusOf(id), 'unsent');
    await started();
    assert.equal(await lines('never'), 0);
  });

  it('what is revoked ends', async () => {
    await cli('nodes', 'delete', 'box');
    const { code, stderr } = await node.ended;
    assert.equal(code, 1);
    assert.match(stderr, /was revoked/);
  });
});
