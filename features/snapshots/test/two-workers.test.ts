/** VF-6 with whole workers, each with folders of its own, on the run's Temporal, with their snapshots in a bucket. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type LiveWorker, type LiveWorkerOptions, startLiveWorker } from '#test/support/live-worker.ts';
import { type S3Server, startS3Server } from '#test/support/s3-server.ts';

const RUNS = { key: 'runs', exec: { security: 'full', ask: 'off' } } as const;
const ASKS = { key: 'asks', workspace: 'runs', exec: { security: 'full', ask: 'always' } } as const;

describe('VF-6 two workers on two folders', () => {
  let s3: S3Server;
  let first: LiveWorker;
  let second: LiveWorker | undefined;
  const follow = (): Pick<LiveWorkerOptions, 'env' | 'agents'> => ({
    agents: [RUNS, ASKS],
    env: {
      TEMPOCLAW_WORKSPACES_FOLLOW: 'snapshots',
      TEMPOCLAW_WORKSPACES_STORE: 's3://bucket/agents',
      AWS_ENDPOINT_URL_S3: s3.url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: s3.keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.keys.secretAccessKey,
    },
  });
  before(async () => {
    s3 = await startS3Server();
    first = await startLiveWorker(follow());
  });
  after(async () => {
    await second?.close();
    await first?.close();
    await s3?.close();
  });

  const exec = (command: string, more = {}): string => `exec ${JSON.stringify({ command, ...more })}`;
  async function turn(worker: LiveWorker, text: string, agent = 'runs') {
    const { turn_id } = await worker.say(`of-${agent}`, text, { agent });
    await worker.ended(turn_id);
    return worker.calls(turn_id);
  }

  it('a session goes on with its files, whichever worker runs the next turn', async () => {
    const made = await turn(
      first,
      [
        'write_file {"path":"a/one.txt","content":"one"}',
        exec('echo two > a/two.txt && chmod 600 a/two.txt'),
      ].join('\nthen\n'),
    );
    assert.deepEqual(
      made.map(({ ok }) => ok),
      [true, true],
      JSON.stringify(made),
    );
    const places = new Set([...s3.objects.keys()].map((key) => key.split('/').slice(0, 3).join('/')));
    assert.deepEqual([...places], [`agents/${first.tenant}/runs`]);

    second = await startLiveWorker({ ...follow(), beside: first });
    await first.shutDown();
    const read = await turn(
      second,
      [
        'read_file {"path":"a/one.txt"}',
        exec('cat a/two.txt; stat -c %a a/two.txt'),
        'write_file {"path":"a/one.txt","content":", more","append":true}',
        'edit {"path":"a/two.txt","old_string":"two","new_string":"2"}',
        'search {"pattern":"one, more"}',
      ].join('\nthen\n'),
    );
    assert.deepEqual(
      read.map(({ ok }) => ok),
      [true, true, true, true, true],
      JSON.stringify(read),
    );
    assert.match(read[0]?.result ?? '', /^one/);
    assert.match(read[1]?.result ?? '', /two\n600/);
    assert.match(read[4]?.result ?? '', /a\/one\.txt:1:one, more/);
  });

  it('an approved command runs with the files that were approved, on a worker that never had them', async () => {
    const worker = second;
    assert.ok(worker);
    await turn(worker, 'write_file {"path":"run.sh","content":"echo approved"}');
    const { turn_id } = await worker.say('of-asks', exec('bash run.sh'), { agent: 'asks' });
    const approval = await worker.approvalOf('of-asks');
    const third = await startLiveWorker({ ...follow(), beside: worker });
    try {
      await worker.shutDown();
      await third.client.workflow
        .getHandle(`approval/${approval}`)
        .signal('decide', { decision: 'approve', by: 'ann' });
      await third.ended(turn_id);
      const [ran] = await third.calls(turn_id);
      assert.match(ran?.result ?? '', /approved/);
      assert.equal(ran?.ok, true);
      // The copy that this worker has made for itself.
      const root = join(third.keys.stateDir, 'workspaces', third.tenant, 'runs');
      assert.deepEqual((await readdir(root)).sort(), ['a', 'run.sh']);
      assert.equal(await readFile(join(root, 'a/one.txt'), 'utf8'), 'one, more');
    } finally {
      await third.close();
    }
  });
});

describe('VF-6 one folder for all', () => {
  it('makes no row and no activity for workspaces, whatever tools do with files', async () => {
    const worker = await startLiveWorker({ agents: [RUNS] });
    try {
      const { turn_id } = await worker.say('plain', 'write_file {"path":"one.txt","content":"one"}');
      assert.equal((await worker.ended(turn_id)).status, 'completed');
      const { rows } = await worker.pool.query('select * from workspaces');
      assert.deepEqual(rows, []);
    } finally {
      await worker.close();
    }
  });
});
