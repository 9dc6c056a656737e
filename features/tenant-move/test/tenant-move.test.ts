/** A tenant with rows in every table moves from one installation to another, and goes on there. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { Failure } from '#domain/errors.ts';
import { SWEEP, sweepId } from '#domain/sweep.ts';
import type { Stack } from '#test/support/stack.ts';
import {
  ANN_WORD,
  makeTenantObjects,
  TENANT_WORD,
  type TenantObjects,
} from '#test/support/tenant-objects.ts';
import { type Contents, exportTenant } from '../export-tenant.ts';
import { importTenant } from '../import-tenant.ts';
import { inLongTransaction } from '../store/long-transaction.ts';
import { listTables } from '../store/list-tables.ts';
import { EMPTIED, plantEmptyTables } from './plant-tables.ts';
import { startTwoInstallations, type TwoInstallations } from './two-installations.ts';

const PASSPHRASE = 'a numbat in a move';
const LARGE = Buffer.alloc(5_000_000, 'large artifact of the potoroo\n');
const STILL = { why: 'it is being moved to another installation', waitSeconds: 60 };

describe('a tenant that moves', () => {
  let both: TwoInstallations;
  let objects: TenantObjects;
  let ann: string;
  let large: string;
  let file: string;
  let contents: Contents;
  let scheduled: string;

  const ask = (stack: Stack, method: string, path: string, body?: object, key = both.old.key) =>
    stack.ask(method, path, { key, ...(body && { body }) });

  const sweep = ({ worker: { client, taskQueue } }: Stack): Promise<unknown> =>
    client.workflow.execute(SWEEP.type, { workflowId: `${sweepId(taskQueue)}/${randomUUID()}`, taskQueue });

  before(async () => {
    both = await startTwoInstallations();
    const { old } = both;
    ann = await old.makeKey(['read', 'run', 'approve'], { user: 'ann' });
    objects = await makeTenantObjects(old, ann);
    const answer = await fetch(`${old.url}/v1/artifacts?filename=large.txt`, {
      method: 'POST',
      headers: { authorization: `Bearer ${old.key}`, 'content-type': 'text/plain' },
      body: new Blob([LARGE]),
    });
    large = ((await answer.json()) as { id: string }).id;
    const schedule = await ask(old, 'POST', '/v1/schedules', {
      name: 'after-the-move',
      agent: 'quokka',
      schedule: { kind: 'at', at: new Date(Date.now() + 40_000).toISOString() },
      message: 'Say that the move is over.',
    });
    scheduled = schedule.body.id;
    // The message of an open turn, which waits behind one that waits for a decision.
    const waiting = await ask(
      old,
      'POST',
      '/v1/sessions/quokka-asks/messages',
      { text: 'after the question' },
      ann,
    );
    assert.equal(waiting.status, 202, JSON.stringify(waiting.body));
    await plantEmptyTables(old.pool, await tablesOf(old), old.tenant, objects);
    file = join(both.folder, 'tenant');
    contents = await exportTenant(await both.open(old), old.tenant, file, PASSPHRASE, STILL);
  });
  after(() => both.stop());

  const tablesOf = async (stack: Stack) =>
    inLongTransaction(stack.worker.databaseUrl, 'read', async (client) =>
      listTables(client, (await both.open(stack)).rows),
    );

  it('has rows in every table, and its file shows none of them', async () => {
    const empty = Object.entries(contents.tables).filter(
      ([name, { count }]) => count === 0 && !EMPTIED.has(name),
    );
    assert.deepEqual(empty, []);
    const bytes = await readFile(file, 'latin1');
    for (const word of [TENANT_WORD, ANN_WORD, both.old.tenant]) assert.ok(!bytes.includes(word), word);
  });

  it('is frozen where it was: it is read, and takes nothing new', async () => {
    const { old } = both;
    assert.equal((await ask(old, 'GET', `/v1/sessions/${objects.session}/messages`)).status, 200);
    for (const [method, path, body] of [
      ['POST', '/v1/sessions/quokka-talk/messages', { text: 'hello' }],
      ['PUT', '/v1/secrets/quokka', { value: 'another-secret-value' }],
      ['POST', `/v1/approvals/${objects.approval}/decision`, { decision: 'approve' }],
      ['DELETE', `/v1/webhooks/${objects.webhook}`, undefined],
    ] as const) {
      const refused = await ask(old, method, path, body);
      assert.deepEqual([refused.status, refused.body.code], [503, 'TenantFrozen'], path);
      assert.match(refused.body.detail, /moved to another installation/);
      assert.ok(refused.headers.get('retry-after'));
    }
    const other = await old.makeTenant();
    assert.equal(
      (await ask(old, 'PUT', '/v1/secrets/own', { value: 'a-value-of-another' }, other.key)).status,
      200,
    );
    const query = `TempoclawTenant = '${old.tenant}' and ExecutionStatus = 'Running'`;
    for await (const run of old.worker.client.workflow.list({ query })) assert.fail(`${run.workflowId} runs`);
    for await (const one of old.worker.client.schedule.list({ query: `TempoclawTenant = '${old.tenant}'` }))
      assert.fail(`${one.scheduleId} is there`);
  });

  it('is left alone by the sweep where it was', async () => {
    const { old } = both;
    await sweep(old);
    const { rows } = await old.pool.query(
      `select (select count(*)::int from turns where tenant_id = $1 and ended_at is null) as turns,
         (select count(*)::int from schedules where tenant_id = $1 and planned is not null) as planned`,
      [old.tenant],
    );
    assert.deepEqual(rows, [{ turns: 2, planned: 0 }]);
  });

  it('is not imported with another passphrase, a changed byte, a cut end or another schema', async () => {
    const at = await both.open(both.new);
    await assert.rejects(importTenant(at, file, 'another passphrase'), { code: 'WrongPassphrase' });
    const bytes = await readFile(file);
    for (const place of [bytes.length >> 1, bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(place) ^ 1, place);
      const path = join(both.folder, `changed-${place}`);
      await writeFile(path, changed);
      await assert.rejects(importTenant(at, path, PASSPHRASE), { code: 'FileChanged' }, path);
    }
    const cut = join(both.folder, 'cut');
    await writeFile(cut, bytes.subarray(0, -100));
    await assert.rejects(importTenant(at, cut, PASSPHRASE), { code: 'FileChanged' });
    await assert.rejects(importTenant({ ...at, schema: 'TempoClaw 0, schema 0' }, file, PASSPHRASE), {
      code: 'Schema',
    });
    await assert.rejects(importTenant({ ...at, objects: [] }, file, PASSPHRASE), { code: 'NoPlace' });
    const { rows } = await both.new.pool.query('select from tenants where id = $1', [both.old.tenant]);
    assert.equal(rows.length, 0);
  });

  it('is not there after an import that was killed among the rows', async () => {
    const { pool, worker } = both.new;
    const holder = new pg.Client({ connectionString: worker.databaseUrl });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('lock table events in exclusive mode');
      const killed = runImport();
      await worker.until('the import to wait for the events', async () => {
        const { rows } = await pool.query(`select from pg_stat_activity
          where application_name = 'tempoclaw-tenants' and wait_event_type = 'Lock'`);
        return rows.length > 0 ? true : undefined;
      });
      killed.child.kill('SIGKILL');
      assert.equal((await killed.ended).signal, 'SIGKILL');
    } finally {
      await holder.end();
    }
    await worker.until('the end of its transaction', async () => {
      const { rows } = await pool.query(
        `select from pg_stat_activity where application_name = 'tempoclaw-tenants'`,
      );
      return rows.length === 0 ? true : undefined;
    });
    assert.equal((await pool.query('select from tenants where id = $1', [both.old.tenant])).rows.length, 0);
  });

  it('is frozen there when the import ends before it goes on, and goes on with the next', async () => {
    const at = await both.open(both.new);
    const away = async () => {
      throw new Failure('Unavailable', 'Temporal is away');
    };
    const temporal = { ...at.temporal, start: away };
    await assert.rejects(importTenant({ ...at, temporal }, file, PASSPHRASE), { type: 'Unavailable' });
    assert.equal((await ask(both.new, 'GET', '/v1/agents')).status, 200);
    const refused = await ask(both.new, 'PUT', '/v1/secrets/quokka', { value: 'another-secret-value' });
    assert.equal(refused.body.code, 'TenantFrozen');
    const { code, errors, output } = await runImport().ended;
    assert.equal(code, 0, errors);
    assert.deepEqual(JSON.parse(output).tables, contents.tables);
  });

  /** The command, in a process of its own, with the settings of the new installation. */
  function runImport() {
    const { worker } = both.new;
    const { stateDir, encryption } = worker.keys;
    const child = spawn(process.execPath, ['bin/tempoclaw.js', 'tenants', 'import', file, '--json'], {
      env: {
        PATH: process.env['PATH'],
        HOME: both.folder,
        DATABASE_URL: worker.databaseUrl,
        TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'],
        TEMPORAL_NAMESPACE: both.namespace,
        TEMPOCLAW_TASK_QUEUE: worker.taskQueue,
        TEMPOCLAW_STATE_DIR: stateDir,
        TEMPOCLAW_WORKSPACE_ROOT: worker.workspaceRoot,
        TEMPOCLAW_ARTIFACTS_STORE: join(both.folder, 'new', 'artifacts'),
        TEMPOCLAW_PASSPHRASE: PASSPHRASE,
        ...(encryption.key && { TEMPOCLAW_ENCRYPTION_KEY: encryption.key }),
      },
    });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (text) => (output += text));
    child.stderr.on('data', (text) => (errors += text));
    const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, output, errors }));
    return { child, ended };
  }

  it('has the same rows there, which other keys seal', async () => {
    const at = await both.open(both.new);
    for (const { name } of await tablesOf(both.new)) assert.ok(contents.tables[name], name);
    const { rows } = await both.new.pool.query(
      `select key_id from secrets where tenant_id = $1 and name = 'quokka'`,
      [both.old.tenant],
    );
    assert.deepEqual(rows, [{ key_id: at.sealer.keyId }]);
    assert.notEqual(at.sealer.keyId, both.old.deps.secrets.sealer.keyId);
    const [secret, missing] = ['secret://quokka', 'secret://nothing'];
    assert.equal(
      await both.new.deps.secrets.vault.resolve(both.old.tenant, secret),
      `${TENANT_WORD}-secret-value`,
    );
    await assert.rejects(both.new.deps.secrets.vault.resolve(both.old.tenant, missing));
  });

  it('is not imported twice', async () => {
    await assert.rejects(importTenant(await both.open(both.new), file, PASSPHRASE), { code: 'Conflict' });
  });

  it('has its files, in Postgres, in the store and in workspaces', async () => {
    const read = async (path: string, key: string): Promise<Buffer> => {
      const answer = await fetch(both.new.url + path, { headers: { authorization: `Bearer ${key}` } });
      assert.equal(answer.status, 200, path);
      return Buffer.from(await answer.arrayBuffer());
    };
    assert.equal((await read(`/v1/artifacts/${objects.artifact}`, ann)).toString(), ANN_WORD);
    assert.ok((await read(`/v1/artifacts/${large}`, both.old.key)).equals(LARGE));
    assert.equal((await read('/v1/agents/quokka/workspace/a.txt?user=ann', ann)).toString(), ANN_WORD);
  });

  it('an open approval is decided there, and its turn goes on, then the one behind it', async () => {
    const { rows } = await both.new.pool.query<{ turn_id: string }>(
      'select turn_id from approvals where tenant_id = $1 and id = $2',
      [both.old.tenant, objects.approval],
    );
    const turn = rows[0]?.turn_id ?? '';
    await both.new.worker.until('the decision', async () => {
      const decided = await ask(both.new, 'POST', `/v1/approvals/${objects.approval}/decision`, {
        decision: 'approve',
      });
      if (decided.status === 503 || decided.status === 409) return undefined;
      assert.equal(decided.status, 200, JSON.stringify(decided.body));
      return true;
    });
    const turns = await both.new.worker.until('the end of both turns', async () => {
      const { body } = await ask(both.new, 'GET', '/v1/sessions/quokka-asks/turns');
      return body.data.every((one: any) => one.ended_at !== null) ? body.data : undefined;
    });
    assert.deepEqual(
      turns.map((one: any) => one.status),
      ['completed', 'completed'],
    );
    const { body } = await ask(both.new, 'GET', `/v1/turns/${turn}/tool-calls`);
    assert.deepEqual(
      body.data.map((call: any) => [call.tool, call.ok]),
      [['poke', true]],
    );
  });

  it('a schedule fires there', async () => {
    await both.new.worker.until('its run', async () => {
      await sweep(both.new);
      const { body } = await ask(both.new, 'GET', `/v1/schedules/${scheduled}/runs`);
      return body.data?.some((run: any) => run.status === 'completed') ? true : undefined;
    });
    const { body } = await ask(both.old, 'GET', `/v1/schedules/${scheduled}/runs`);
    assert.deepEqual(body.data, []);
  });

  it('goes on in new work, and its numbers come after the old ones', async () => {
    const said = await ask(
      both.new,
      'POST',
      '/v1/sessions/quokka-talk/messages?wait=60',
      { text: 'hello again' },
      ann,
    );
    assert.equal(said.body.status, 'completed', JSON.stringify(said.body));
    await ask(both.new, 'PUT', '/v1/policy', { tools: { deny: ['mcp_after__x'] } });
    const { rows } = await both.new.pool.query(
      `select bool_and(id > $2) as is_later from policy_changes where tenant_id = $1 and after::text like '%mcp_after%'`,
      [both.old.tenant, objects.policyChange],
    );
    assert.deepEqual(rows, [{ is_later: true }]);
  });
});
