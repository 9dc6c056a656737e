/** `npm start` in a fresh clone, as one program: what it starts, what it prints, what it survives, what it leaves. */
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client } from 'pg';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';
import { type Clone, cloneRepository, type Program } from './program.ts';
import { attackFromBehindTheWall, hasWall, workBehindTheWall } from './wall.ts';

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function listenAnywhere(): Promise<{ server: Server; port: number }> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      assert.ok(address !== null && typeof address === 'object');
      resolve({ server, port: address.port });
    });
  });
}

describe('npm start in a fresh clone', () => {
  let clone: Clone;
  let program: Program;
  let taken: { server: Server; port: number };
  before(async () => {
    clone = await cloneRepository();
    taken = await listenAnywhere();
    program = await clone.start({ TEMPOCLAW_PORT: String(taken.port) });
  });
  after(async () => {
    await clone?.remove();
    taken?.server.close();
  });
  const cli = (...args: string[]) => clone.command('npx', ['--no-install', 'tempoclaw', ...args]);

  it('says where everything is and what to try, and that no key is needed', () => {
    const printed = program.printed();
    for (const address of [program.run.api, `${program.run.api}/docs`, program.run.temporal_ui])
      assert.ok(printed.includes(String(address)), `${address} in:\n${printed}`);
    assert.match(printed, /rehearsal \(scripted/);
    assert.match(printed, /npx tempoclaw chat/);
  });

  it('IN-7 builds the console, serves it, and prints a link that logs a browser in once', async () => {
    const printed = program.printed();
    assert.match(printed, /Console: built \(\d+\.\d s\)/);
    const [, address = '', link] = /^ *(http\S+)\/login#([\w-]+)$/m.exec(printed) ?? [];
    assert.equal(address, program.run.api);
    const page = await fetch(`${address}/sessions`, { headers: { accept: 'text/html' } });
    const [script] = /assets\/[\w-]+\.js/.exec(await page.text()) ?? [];
    assert.equal((await fetch(`${address}/${script}`)).status, 200);
    const login = () =>
      fetch(`${address}/console/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ link }),
      });
    assert.deepEqual([(await login()).status, (await login()).status], [200, 401]);
    const made = await cli('open', 'console', '--json');
    assert.match(String(JSON.parse(made.stdout).address), /\/login#[\w-]{22}$/);
  });

  it('writes run.json for programs, which only its user may read', () => {
    const { run } = program;
    assert.deepEqual(Object.keys(run).sort(), [
      'api',
      'api_key_file',
      'api_socket',
      'database_url',
      'namespace',
      'pids',
      'runs',
      'task_queue',
      'temporal',
      'temporal_ui',
    ]);
    assert.deepEqual(Object.keys(run.pids).sort(), ['api', 'postgres', 'temporal', 'up', 'worker']);
    for (const file of ['run.json', 'api-key'])
      assert.equal(statSync(join(clone.folder, '.tempoclaw', file)).mode & 0o777, 0o600, file);
  });

  it('an occupied port is passed over, and that is said', () => {
    assert.notEqual(program.run.api, `http://127.0.0.1:${taken.port}`);
    assert.match(program.printed(), new RegExp(`API: port \\d+ \\(${taken.port} is in use\\)`));
  });

  it('the database and the API answer where run.json says', async () => {
    const client = new Client({ connectionString: program.run.database_url });
    await client.connect();
    const { rows } = await client.query("select to_regclass('sessions') is not null as migrated");
    await client.end();
    assert.deepEqual(rows, [{ migrated: true }]);
    assert.equal((await program.ask('GET', '/readyz')).status, 200);
  });

  it('runs a turn from the command line, found through run.json', async () => {
    const { code, stdout, stderr } = await cli('run', 'write a note', '--session', 'kept');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /The file `notes\/hello\.md` is written/);
    assert.match(stderr, /write_file/);
  });

  it('SH-6: says where commands run, and behind which wall', async (t) => {
    if (!hasWall()) return t.skip('this kernel has no Landlock');
    const log = readFileSync(join(clone.folder, '.tempoclaw', 'logs', 'worker.log'), 'utf8');
    const words = log.split('\n').filter((line) => line.includes('"wall"'));
    const isBehind = /Commands +run on the host, not in a sandbox, behind the wall/.test(program.printed());
    assert.ok(isBehind, words.join('\n'));
    assert.match((await cli('doctor')).stdout, /Wall +holds around commands on the host: files and network/);
  });

  it('SH-6: a script of an agent gets at no secret, no process, no port and no program of ours', async (t) => {
    if (!hasWall()) return t.skip('this kernel has no Landlock');
    await attackFromBehindTheWall(clone, program);
  });

  it('SH-6: git, node, npm, python, pipes, temporary files and ports of others work behind the wall', (t) =>
    hasWall() ? workBehindTheWall(clone, program) : t.skip('this kernel has no Landlock'));

  it('SH-7: Temporal and the API come back on their own ports; commands of before are over, and others reach no new port', async (t) => {
    if (!hasWall()) return t.skip('this kernel has no Landlock');
    const seconds = await leaveRunning('before');
    const { pids, api, temporal, temporal_ui } = program.info();
    for (const part of ['temporal', 'api']) process.kill(pids[part] ?? 0, 'SIGKILL');
    const isBack = async (): Promise<boolean> => {
      const now = program.info().pids;
      if (['temporal', 'api', 'worker'].some((part) => !now[part] || now[part] === pids[part])) return false;
      return (await program.ask('GET', '/readyz').catch(() => undefined))?.status === 200;
    };
    assert.ok(await eventually(isBack, 120_000));
    const now = program.info();
    assert.deepEqual([now.api, now.temporal, now.temporal_ui], [api, temporal, temporal_ui]);
    assert.deepEqual(runningWith(`sleep ${seconds}`), []);
    // A worker that has started its work no longer has the ports with which it tested its wall.
    await leaveRunning('after');
    await attackFromBehindTheWall(clone, program);
  });

  it('doctor finds nothing missing, in words and in JSON', async () => {
    const words = await cli('doctor');
    assert.equal(words.code, 0, words.stdout);
    assert.match(words.stdout, /Nothing that is needed is missing/);
    const json = await cli('doctor', '--json');
    const found = JSON.parse(json.stdout) as {
      healthy: boolean;
      findings: { check: string; status: string; detail: string }[];
    };
    assert.equal(found.healthy, true);
    const api = found.findings.find(({ check }) => check === 'API');
    assert.deepEqual(api, { check: 'API', status: 'ok', detail: program.run.api });
  });

  it('--setup-only of a database that is named goes beside a running one', async () => {
    const { run } = program;
    const set = await clone.command('npx', ['--no-install', 'tempoclaw', 'up', '--setup-only'], {
      DATABASE_URL: run.database_url,
    });
    assert.equal(set.code, 0, set.stderr);
    assert.match(set.stdout, /Database schema: up to date/);
    assert.equal((await fetch(`${run.api}/healthz`)).status, 200);
  });

  it('a second start in the same folder is refused and names the first', async () => {
    const second = await cli('up');
    assert.equal(second.code, 1);
    assert.match(second.stderr, new RegExp(`already runs .*pid ${program.run.pids['up']}`));
  });

  /** A command that runs on after its turn, as a server that an agent starts does. */
  async function leaveRunning(session: string): Promise<string> {
    const seconds = uniqueSeconds();
    const patch = { exec: { security: 'full', ask: 'off' }, model: 'rehearsal/follow' };
    await program.ask('POST', '/v1/agents', { key: 'runs', type: 'open', ...patch });
    const text = `exec ${JSON.stringify({ command: `sleep ${seconds}`, background: true })}`;
    const { body } = await program.ask('POST', `/v1/sessions/${session}/messages?wait=60`, {
      agent: 'runs',
      text,
    });
    assert.equal(body.status, 'completed', JSON.stringify(body));
    assert.ok(await eventually(() => runningWith(seconds).length > 0));
    return seconds;
  }

  it('a worker that is ended takes its background commands with it', async () => {
    const seconds = await leaveRunning('served');
    const ended = program.info().pids['worker'] ?? assert.fail('no worker');
    process.kill(ended, 'SIGTERM');
    assert.ok(await eventually(() => runningWith(seconds).length === 0, 30_000), 'it runs on');
    assert.ok(await eventually(() => program.info().pids['worker'] !== ended, 60_000), program.printed());
  });

  it('Ctrl-C ends every part, and a second start finds everything again', async () => {
    // It belongs to a worker that cannot end it itself.
    const orphaned = await leaveRunning('orphaned');
    process.kill(program.info().pids['worker'] ?? assert.fail('no worker'), 'SIGKILL');
    const { pids } = program.info();
    await program.interrupt();
    assert.deepEqual(runningWith(orphaned), []);
    for (const [name, pid] of Object.entries(pids))
      assert.ok(await eventually(() => !isAlive(pid)), `${name}, pid ${pid}, is still there`);
    assert.match(program.printed(), /Everything is kept in \.tempoclaw/);
    const down = await cli('sessions');
    assert.equal(down.code, 1);
    assert.match(down.stderr, /npm start/);

    const again = await clone.start();
    assert.equal(again.key, program.key);
    const { body } = await again.ask('GET', '/v1/sessions/kept/messages');
    assert.match(JSON.stringify(body.data), /The file `notes\/hello\.md` is written/);
    const { stdout, stderr } = await cli('run', 'list files', '--session', 'kept');
    assert.match(stdout, /notes/, stderr);
    const later = again.info().pids;
    await again.interrupt();
    for (const [name, pid] of Object.entries(later))
      assert.ok(await eventually(() => !isAlive(pid)), `${name}, pid ${pid}, is still there`);
  });
});
