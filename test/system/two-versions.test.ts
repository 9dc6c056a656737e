/**
 * F10 DU-5: workers and APIs of two versions on one database, under load and kill -9. The later version has a migration
 * and another function for results, and works as if the earlier did not exist.
 */
import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { changeFile, makeOtherBuild } from '#test/support/other-build.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';
import type { Killable } from '#test/support/worker-process.ts';

const SECONDS = Number(process.env['TEST_KILL_SECONDS'] ?? 40);
/** Sessions that send one turn after another. */
const LANES = 6;
/** Milliseconds between a restart and the next kill. */
const PAUSE_MS = 1_000;

async function makeLaterVersion(): Promise<string> {
  const folder = await makeOtherBuild();
  await changeFile(join(folder, 'package.json'), { '"version": "0.1.0"': '"version": "0.1.1"' });
  await writeFile(
    join(folder, 'store/migrations/0099_later.sql'),
    '-- Up Migration\ncreate table later_results (tenant_id text, call_id text, primary key (tenant_id, call_id));\n',
  );
  const functions = join(folder, 'store/functions');
  await changeFile(
    join(functions, 'record_result_2.sql'),
    {
      'create function record_result_2(': 'create function record_result_3(',
      '\nbegin\n': '\nbegin\n  insert into later_results values (p_tenant, p_call) on conflict do nothing;\n',
    },
    join(functions, 'record_result_3.sql'),
  );
  await changeFile(join(folder, 'store/postgres/sql-call.ts'), {
    'record_result_2:': 'record_result_3:',
    "'record_result_2'": "'record_result_3'",
  });
  await changeFile(join(folder, 'store/turns/turn-ledger.ts'), { "'record_result_2'": "'record_result_3'" });
  return folder;
}

describe('F10 DU-5 two versions side by side', { timeout: 600_000 }, () => {
  let stand: Stand;
  let folder: string;
  const chance = createChance(seedOfRun());
  const accepted: Accepted[] = [];
  let later: readonly Killable[];
  let laterApi: Killable;
  before(async () => {
    folder = await makeLaterVersion();
    stand = await createStand({ workers: 2 });
    later = ['later-0', 'later-1'].map((name) => stand.workerOf(folder, name));
    laterApi = stand.apiOf(folder);
  });
  after(async () => {
    for (const part of [...(later ?? []), laterApi]) await part?.stop();
    await stand?.close();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  async function runTurn(lane: number, n: number): Promise<void> {
    const tenant = stand.tenants[lane % 2] as Tenant;
    const session = `${tenant.id}-${lane}`;
    const token = `${session}-${n}`;
    const command = `sleep 0.${chance.between(0, 9)}; echo ${token} >> ${stand.witnessFile}`;
    const steps = [
      'datetime {"timezone":"Etc/UTC"}',
      `exec ${JSON.stringify({ command })}`,
      'datetime {"timezone":"Etc/GMT+1"}',
    ];
    const turn = await stand.say(tenant, session, token, { text: steps.join('\nthen\n') });
    const message = { tenant, session, turn, token };
    accepted.push(message);
    await untilAllEnded(stand, [message]);
  }

  it('a worker of the later version waits for the migration, which its API makes', async () => {
    const log = join(stand.folder, 'logs', 'later-0.log');
    const starting = later[0]?.start();
    await stand.until(
      'the refusal of the worker',
      async () =>
        /lacks migrations of this version \(0099_later\)/.test(await readFile(log, 'utf8').catch(() => '')) ||
        undefined,
    );
    await Promise.all([starting, laterApi.start(), later[1]?.start()]);
  });

  it(`all that is accepted in ${SECONDS} seconds ends, whoever is killed and restarted`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    const end = Date.now() + SECONDS * 1_000;
    const isOver = (): boolean => Date.now() > end;
    const parts = [...stand.workers, ...later, stand.api, laterApi];
    let kills = 0;
    const killInTurn = async (): Promise<void> => {
      while (!isOver()) {
        await sleep(PAUSE_MS);
        const part =
          parts[kills < parts.length ? kills : chance.between(0, parts.length - 1)] ?? assert.fail();
        kills += 1;
        await part.kill();
        await sleep(chance.between(0, 1_000));
        await part.start();
      }
    };
    const lanes = Array.from({ length: LANES }, async (_, lane) => {
      for (let n = 0; !isOver(); n += 1) await runTurn(lane, n);
    });
    await Promise.all([...lanes, killInTurn()]);
    t.diagnostic(`${accepted.length} turns under ${kills} kills`);
  });

  it('each version has recorded results by its own function', async () => {
    const { rows } = await stand.pool.query<{ later: boolean }>(
      `select distinct r.call_id is not null as later from tool_calls c
       left join later_results r on r.tenant_id = c.tenant_id and r.call_id = c.id where c.tool = 'exec' order by 1`,
    );
    assert.deepEqual(rows, [{ later: false }, { later: true }]);
  });

  it('the mark of the database is that of the later version', async () => {
    const { rows } = await stand.pool.query(
      `select obj_description('migrations'::regclass, 'pg_class') as mark`,
    );
    assert.match(rows[0].mark, /^TempoClaw 0\.1\.1, schema [0-9a-f]{8}, for 0\.1\.0 and later$/);
  });

  it('the witness finds I1–I6 kept', () => checkInvariants(stand, accepted));
});
