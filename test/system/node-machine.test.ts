/** A real `tempoclaw node` joins, is invoked, and is killed with everything around it; each invocation runs once. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { appendFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type CliRun, runCli, startCli } from '#test/cli/support/run-cli.ts';
import { createStand, type Stand } from '#test/support/faults.ts';
import { eventually } from '#test/support/processes.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

/** Reports that it runs, and continues until it may end. */
const HELD = 'echo ran >> $0.ran; while ! [ -e $0.go ]; do sleep 0.05; done; echo over $0';

interface Call {
  readonly ok: boolean;
  readonly code: string | null;
  readonly result: string;
}

describe('TL nodes as programs', { timeout: 300_000 }, () => {
  let stand: Stand;
  let base: string;
  let folder: string;
  let node: CliRun;
  const ends: (() => unknown)[] = [];
  before(async () => {
    stand = await createStand({ workers: 1 });
    base = await temporaryFolder({ after: (end) => void ends.push(end as () => unknown) });
    folder = await temporaryFolder({ after: (end) => void ends.push(end as () => unknown) });
  });
  after(async () => {
    node?.child.kill('SIGKILL');
    await stand?.close();
    for (const end of ends) await end();
  });

  const cli = (...args: string[]) =>
    runCli(args, { url: stand.apiUrl, env: { TEMPOCLAW_API_KEY: stand.tenants[0].key } });
  async function invited(name: string): Promise<string> {
    const { stdout } = await cli('nodes', 'invite', name);
    return / --code (\S+)/.exec(stdout)?.[1] ?? assert.fail(stdout);
  }
  const started = (state: string, ...args: string[]): CliRun =>
    startCli(
      ['node', '--state-dir', join(base, state), '--folder', folder, '--allow-run', 'sh -c **', ...args],
      {
        env: { TEMPOCLAW_URL: '' },
      },
    );
  async function connected(...args: string[]): Promise<void> {
    node = started('box', ...args);
    await node.sees(/connected to/);
  }
  async function killed(): Promise<void> {
    node.child.kill('SIGKILL');
    await node.ended;
  }

  async function begun(args: object, tenant = stand.tenants[0]): Promise<string> {
    const id = randomUUID();
    return stand.say(tenant, id, id, { text: `nodes ${JSON.stringify(args)}` });
  }
  const ended = (turn: string): Promise<Call> =>
    stand.until(`the end of ${turn}`, async () => {
      const { rows } = await stand.pool.query<Call>(
        `select c.ok, c.code, c.result from tool_calls c join turns t on t.tenant_id = c.tenant_id and t.id = c.turn_id
         where t.id = $1 and t.ended_at is not null`,
        [turn],
      );
      return rows[0];
    });
  const running = (name: string, timeout = 120): Promise<string> => {
    const params = { command: 'sh', args: ['-c', HELD, name], cwd: '.' };
    return begun({ action: 'invoke', node: 'box', capability: 'system.run', params, timeout });
  };
  const lines = async (name: string): Promise<number> =>
    (await readFile(join(folder, `${name}.ran`), 'utf8').catch(() => '')).split('\n').length - 1;
  const hasBegun = async (name: string): Promise<void> =>
    assert.ok(await eventually(async () => (await lines(name)) === 1));
  const go = (name: string): Promise<void> => appendFile(join(folder, `${name}.go`), '');
  /** Checks that it ran to its end, and once. */
  async function ranOnce(name: string, turn: string): Promise<void> {
    const { ok, result } = await ended(turn);
    assert.equal(ok, true, result);
    assert.match(result, new RegExp(`over ${name}`));
    assert.equal(await lines(name), 1);
  }

  it('joins by its code, which works once, and keeps its token for itself', async () => {
    const wrong = await started('wrong', '--url', stand.apiUrl, '--code', 'ABCDEF-ABCDEFGHJK').ended;
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /wrong, was used or has expired/);
    const code = await invited('box');
    node = started('box', '--url', stand.apiUrl, '--code', code);
    await node.sees(/joined as box\n[^]*connected to/);
    assert.equal((await started('second', '--url', stand.apiUrl, '--code', code).ended).code, 1);
    assert.equal((await stat(join(base, 'box', 'credential.json'))).mode & 0o777, 0o600);
    const isShown = async (): Promise<boolean> =>
      /box +connected +system.info file.read system.run/.test((await cli('nodes')).stdout);
    assert.ok(await eventually(isShown));
  });

  it('another with the same folder is refused', async () => {
    const { code, stderr } = await started('box').ended;
    assert.equal(code, 1);
    assert.match(stderr, /Another node runs/);
  });

  it('a folder that is not there is refused', async () => {
    const { code, stderr } = await started('elsewhere', '--folder', join(folder, 'nothing')).ended;
    assert.equal(code, 2);
    assert.match(stderr, /nothing is no folder/);
  });

  it('is listed, described and asked', async () => {
    assert.match((await ended(await begun({ action: 'list' }))).result, /box: connected; linux/);
    const described = await ended(await begun({ action: 'describe', node: 'box' }));
    assert.match(described.result, /system.run: .*sh -c \*\*/);
    await writeFile(join(folder, 'tea.txt'), 'Earl Grey');
    const request = { action: 'invoke', node: 'box', capability: 'file.read', params: { path: 'tea.txt' } };
    assert.match((await ended(await begun(request))).result, /Earl Grey/);
    const outside = { ...request, params: { path: '../../etc/passwd' } };
    assert.equal((await ended(await begun(outside))).code, 'FileNotFound');
    const other = { ...request, capability: 'system.run', params: { command: 'id' } };
    assert.equal((await ended(await begun(other))).code, 'PermissionDenied');
  });

  it('is nothing to another tenant', async () => {
    const request = { action: 'invoke', node: 'box', capability: 'system.info' };
    assert.equal((await ended(await begun(request, stand.tenants[1]))).code, 'NotFound');
  });

  it('a worker that is killed meanwhile: the next one has the result', async () => {
    const turn = await running('worker');
    await hasBegun('worker');
    await stand.workers[0]?.kill();
    await go('worker');
    await stand.workers[0]?.start();
    await ranOnce('worker', turn);
  });

  it('an API that is killed meanwhile: the result comes over the next connection', async () => {
    const turn = await running('api');
    await hasBegun('api');
    await stand.api.kill();
    await go('api');
    await node.sees(/system.run has ended\n[^]*not connected/);
    await stand.api.start();
    await ranOnce('api', turn);
  });

  it('a node that has ended it, and is killed before anybody hears of it, says it from its journal', async () => {
    const turn = await running('journal');
    await hasBegun('journal');
    const before = (await node.sees(/connected/)).length;
    await stand.api.kill();
    await go('journal');
    await node.sees(/system.run has ended/, before);
    await killed();
    await stand.api.start();
    await connected();
    await ranOnce('journal', turn);
  });

  it('a node that is killed while it runs: whether it was done is not known, and it is not run again', async () => {
    const turn = await running('killed');
    await hasBegun('killed');
    await killed();
    await connected();
    const { code, result } = await ended(turn);
    assert.equal(code, 'OutcomeUnknown', result);
    assert.match(result, /may have been done/);
    assert.equal(await lines('killed'), 1);
    await go('killed');
  });

  it('one that is away when it is asked does it when it is back', async () => {
    await killed();
    await go('late');
    const turn = await running('late');
    await connected();
    await ranOnce('late', turn);
  });

  it('ends in order with what it runs, and has to be invited again once it is revoked', async () => {
    const turn = await running('ordered');
    await hasBegun('ordered');
    node.child.kill('SIGTERM');
    assert.equal((await node.ended).code, 0);
    await connected();
    assert.equal((await ended(turn)).ok, false);
    assert.equal(await lines('ordered'), 1);
    assert.equal((await cli('nodes', 'delete', 'box')).code, 0);
    const revoked = await node.ended;
    assert.equal(revoked.code, 1);
    assert.match(revoked.stderr, /it was revoked/);
    assert.match((await started('box').ended).stderr, /it was revoked/);
    await connected('--code', await invited('box'));
  });
});
