/** DU-11: nothing is missed and nothing is there twice, whoever appends and however late a row commits. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { appendBatch } from '../append.ts';
import { verifyEvidence } from '../verify.ts';
import { type Recorded, recordWork, startRecorded } from './recorded.ts';

const CALL = `insert into tool_calls (tenant_id, id, session_key, turn_id, step, index, tool, called_as, summary, args, digest,
  verdict, state, ok, ended_at) select (select id from tenants), 'late-' || n, 's', 't', 1, 0, 'datetime', 'datetime', '', '{}', '', 'allow', 'done', true, now()`;

describe('DU-11 appending to the chain', () => {
  let recorded: Recorded;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tempoclaw-evidence-'));
    recorded = await startRecorded();
    await recordWork(recorded, 1);
  });
  after(async () => {
    await recorded?.stop();
    await rm(folder, { recursive: true });
  });

  const entryOf = async (id: string): Promise<number | undefined> =>
    (await recorded.stack.pool.query(`select seq::int from evidence_entries where subject = $1`, [id]))
      .rows[0]?.seq;

  it('records what a worker has done within moments, without a request', async () => {
    const { stack } = recorded;
    const turn = await recorded.say('soon', 'datetime {}');
    const [call] = await stack.worker.calls(turn);
    await stack.worker.until('the entry', () => entryOf(call?.id ?? ''));
    const { body } = await stack.ask('GET', '/v1/evidence');
    assert.ok(body.entries > 0);
    assert.equal(body.head.seq, body.entries);
    assert.match(body.public_key, /^MCowBQYDK2Vw/);
  });

  it('misses no row whose transaction commits after later ones', async () => {
    const { stack } = recorded;
    const client = await stack.pool.connect();
    await client.query(`begin; ${CALL} from generate_series(1, 3) n`);
    const turn = await recorded.say('meanwhile', 'datetime {}');
    const [call] = await stack.worker.calls(turn);
    await stack.worker.until('the entry of the later row', () => entryOf(call?.id ?? ''));
    assert.equal(await entryOf('late-1'), undefined);
    await client.query('commit');
    client.release();
    await stack.worker.until('the entry of the earlier row', () => entryOf('late-3'));
    assert.deepEqual((await recorded.verified()).fault, null);
  });

  it('has each row once when many append at once', async () => {
    const { stack } = recorded;
    const { pool, tenant } = stack;
    const { sealer } = stack.deps.secrets;
    await pool.query(`${CALL} from generate_series(1001, 9000) n`);
    const appendAll = async (waits: boolean): Promise<void> => {
      for (let left = 30; left > 0; left -= 1) await appendBatch(forTenant(pool, tenant), sealer, waits);
    };
    await Promise.all([true, false, true, false].map(appendAll));
    const { rows } = await pool.query(
      `select count(*)::int as count, count(distinct subject)::int as subjects from evidence_entries where subject like 'late-%'`,
    );
    assert.deepEqual(rows[0], { count: 8_003, subjects: 8_003 });
    const verdict = await recorded.verified();
    assert.deepEqual(verdict.fault, null);
    assert.ok(verdict.entries > 8_003);
  });

  it('writes nothing for a frozen tenant, and goes on later', async () => {
    const { stack } = recorded;
    await stack.pool.query(`update tenants set frozen_at = now(), frozen_for = 'a test'`);
    await stack.pool.query(`${CALL} from generate_series(10001, 10001) n`);
    await recorded.exported();
    assert.equal(await entryOf('late-10001'), undefined);
    await stack.pool.query('update tenants set frozen_at = null, frozen_for = null');
    await stack.worker.until('the entry', () => entryOf('late-10001'));
  });

  it('is verified by a process that has nothing but the file, and names the first fault there', async () => {
    const program = join(import.meta.dirname, '../../../cli/main.ts');
    const run = (...args: readonly string[]) =>
      promisify(execFile)(process.execPath, [program, 'evidence', 'verify', ...args], {
        cwd: folder,
        env: { PATH: '/nowhere', HOME: folder },
      }).then(
        ({ stdout }) => ({ code: 0, stdout }),
        ({ code, stdout, stderr }) => ({ code, stdout: `${stdout}${stderr}` }),
      );
    const lines = await recorded.exported();
    const file = join(folder, 'evidence.jsonl');
    await writeFile(file, `${lines.join('\n')}\n`);
    const green = await run(file);
    assert.equal(green.code, 0, green.stdout);
    assert.match(green.stdout, /^\w+: \d+ entries are as they were recorded/);
    const { public_key } = JSON.parse(lines[0] ?? '');
    assert.equal((await run(file, '--key', public_key)).code, 0);
    assert.match((await run(file, '--key', 'MCowother')).stdout, /^forged: .*another key/);
    const at = lines.findIndex((line) => line.includes('"kind":"call"') && line.includes('write_file'));
    const edited = lines.with(at, (lines[at] ?? '').replace('write_file', 'write_fire'));
    await writeFile(file, edited.join('\n'));
    const red = await run(file, '--json');
    assert.equal(red.code, 1);
    const { fault } = JSON.parse(red.stdout);
    assert.deepEqual([fault.fault, fault.seq, fault.kind], ['edited', at, 'call']);
    await writeFile(file, lines.slice(0, -1).join('\n'));
    assert.match((await run(file)).stdout, /^truncated: /);
    assert.match((await run(join(folder, 'nothing'))).stdout, /nothing cannot be read/);
  });

  it('reads any bytes as a file that is not as it was recorded', async () => {
    const lines = await recorded.exported();
    for (const broken of [
      [],
      ['{}'],
      ['null', ...lines],
      [...lines.slice(0, 2), '[]', ...lines.slice(2)],
      [...lines, lines.at(-1) ?? ''],
      [lines[0] ?? '', lines.at(-1) ?? ''],
      lines.with(1, lines[2] ?? ''),
    ])
      assert.equal((await verifyEvidence(broken)).ok, false);
  });
});
