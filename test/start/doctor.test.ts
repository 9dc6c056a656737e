/** `doctor` in a clone that was never started, and with unusable settings. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client } from 'pg';
import { eventually } from '#test/support/processes.ts';
import { type Clone, cloneRepository } from './program.ts';

describe('doctor before the first start', () => {
  let clone: Clone;
  before(async () => {
    clone = await cloneRepository();
  });
  after(() => clone?.remove());
  const doctor = (env: Readonly<Record<string, string>> = {}, ...args: string[]) =>
    clone.command(process.execPath, ['bin/tempoclaw.js', 'doctor', ...args], env);

  it('finds nothing missing, changes nothing, and says how to start', async () => {
    const { code, stdout } = await doctor();
    assert.equal(code, 0, stdout);
    assert.match(stdout, /Postgres +embedded/);
    assert.match(stdout, /API +not running here\n.*npm start/);
    assert.equal(existsSync(join(clone.folder, '.tempoclaw')), false);
  });

  it('a database that does not answer is missing, with its remedy and without its password', async () => {
    const { code, stdout } = await doctor({ DATABASE_URL: 'postgres://me:geheim@127.0.0.1:9/none' });
    assert.equal(code, 1);
    assert.match(stdout, /✘ Postgres .*127\.0\.0\.1:9.* does not answer/);
    assert.match(stdout, /→ Check DATABASE_URL/);
    assert.doesNotMatch(stdout, /geheim/);
  });

  it('a setting that cannot be used is told with its place', async () => {
    await writeFile(join(clone.folder, 'wrong.yaml'), 'api:\n  port: many\n');
    const { code, stdout } = await doctor({}, '--config', 'wrong.yaml', '--json');
    assert.equal(code, 1);
    const { healthy, findings } = JSON.parse(stdout) as {
      healthy: boolean;
      findings: { check: string; status: string; detail: string }[];
    };
    assert.equal(healthy, false);
    assert.equal(findings[0]?.check, 'Settings');
    assert.match(findings[0]?.detail ?? '', /wrong\.yaml:2.*api\.port/);
  });

  it('a file as the state folder is refused in words, by doctor as by up', async () => {
    const file = ['--state-dir', 'README.md'];
    const { code, stdout } = await doctor({}, ...file);
    assert.equal(code, 1);
    assert.match(stdout, /stateDir: .*README\.md is a file; name a folder/);
    const up = await clone.command(process.execPath, ['bin/tempoclaw.js', 'up', ...file]);
    assert.equal(up.code, 1);
    assert.match(up.stderr, /stateDir: .*README\.md is a file; name a folder/);
    assert.doesNotMatch(up.stderr, /\n +at /);
  });
});

describe('doctor beside one that runs', () => {
  let clone: Clone;
  before(async () => {
    clone = await cloneRepository();
  });
  after(() => clone?.remove());
  const doctor = async (env: Readonly<Record<string, string>> = {}) =>
    (await clone.command(process.execPath, ['bin/tempoclaw.js', 'doctor'], env)).stdout;

  it('speaks of its settings and servers, whatever this shell has, and of its database when it has ended', async () => {
    const program = await clone.start({
      OPENAI_API_KEY: 'sk-of-the-start-0123456789',
      TEMPOCLAW_MODEL: 'rehearsal/follow',
    });
    const found = await doctor({
      ANTHROPIC_API_KEY: 'sk-of-the-shell-0123456789',
      TEMPOCLAW_SANDBOX: 'required',
      DATABASE_URL: 'postgres://me@127.0.0.1:9/none',
      TEMPORAL_ADDRESS: '127.0.0.1:9',
    });
    assert.match(found, /✔ Models +openai, rehearsal\n/);
    assert.match(found, /Sandbox +off; where commands run: on the host/);
    assert.match(found, new RegExp(`✔ Postgres +.*${new URL(program.run.database_url).host}`));
    assert.match(
      found,
      new RegExp(`✔ Temporal +${program.run.temporal}, namespace ${program.run.namespace}`),
    );
    assert.match(found, /Nothing that is needed is missing/);
    assert.doesNotMatch(found, /0123456789/);

    assert.match(found, /✔ Failing +nothing/);
    const database = new Client({ connectionString: program.run.database_url });
    await database.connect();
    await database.query(
      `insert into webhooks (tenant_id, id, url, events, ordered, sealed, key_id, created_by, failing_since)
         values ('default', gen_random_uuid(), 'https://example.com', '{*}', false, '', '', '', now())`,
    );
    await database.end();
    // The API keeps its figures for ten seconds.
    const alarm = /! Failing +Endpoints whose newest delivery failed.*: 1 \(webhook\)\n +→ /;
    assert.ok(await eventually(async () => alarm.test(await doctor())));

    await program.interrupt();
    assert.match(await doctor(), /✔ Postgres +embedded/);
    await writeFile(join(clone.folder, '.tempoclaw', 'schema'), 'TempoClaw 0.0.9, schema 00000000');
    assert.match(await doctor(), /✘ Postgres .*made by TempoClaw 0\.0\.9.*\n.*another --state-dir/);
  });
});
