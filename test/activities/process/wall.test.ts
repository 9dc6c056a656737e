/** The wall around commands on the host: what it proves, what it never falls back to, and whom it keeps apart. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createLauncher, createWalledLauncher } from '#activities/process/launcher.ts';
import { ownIdentity, processTable } from '#activities/process/process-table.ts';
import { proveWall } from '#activities/process/prove-wall.ts';
import { seatbeltProfile } from '#activities/process/seatbelt-profile.ts';
import { type CommandRequest, createShell, type Shell } from '#activities/process/shell.ts';
import { type HostWall, type WallSettings, withoutWall } from '#activities/process/wall.ts';
import { createBubblewrap } from '#activities/sandbox/bubblewrap.ts';
import { sandboxOf } from '#domain/sandbox.ts';
import { hasWall } from '#test/start/wall.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

const PROGRAM = fileURLToPath(new URL('../../..', import.meta.url));

function shellBehind(wall: HostWall): Shell {
  const environment = { PATH: process.env['PATH'] ?? '' };
  return createShell({ environment, worker: ownIdentity(), graceMs: 100, launch: createLauncher(), wall });
}

describe('a wall', { skip: hasWall() ? false : 'this kernel has no Landlock' }, () => {
  const cleanup: (() => unknown)[] = [];
  let settings: WallSettings;
  let workspace: string;
  let wall: HostWall;
  let shell: Shell;
  const run = (command: CommandRequest['command'], over: Partial<CommandRequest> = {}) =>
    shell.run({
      command,
      cwd: workspace,
      pwd: workspace,
      timeoutMs: 100_000,
      callId: 'call',
      signal: new AbortController().signal,
      ...over,
    });
  before(async () => {
    const stateDir = await temporaryFolder({ after: (act) => cleanup.push(act as () => unknown) });
    settings = {
      stateDir,
      workspaceRoot: join(stateDir, 'workspaces'),
      secretFiles: [],
      program: PROGRAM,
      ports: [],
    };
    workspace = join(settings.workspaceRoot, 'default', 'main');
    await mkdir(workspace, { recursive: true });
    await writeFile(join(stateDir, 'api-key'), 'of an admin');
    wall = (await proveWall(settings)).host;
    shell = shellBehind(wall);
  });
  after(async () => {
    wall.close();
    for (const act of cleanup) await act();
  });
  const refused = /Permission denied/;

  it('SH-6: is proven whole here, and counts as none where it cannot be', async () => {
    assert.equal(wall.wall, 'files and network');
    assert.equal(await shell.placeOf(undefined), 'host');
    const within = await proveWall({
      ...settings,
      workspaceRoot: await realpath(join(settings.stateDir, '..')),
    });
    assert.equal(within.host.wall, 'none');
    assert.match(within.why ?? '', /lies within the workspaces/);
    assert.equal(await shellBehind(within.host).placeOf(undefined), 'open_host');
    assert.equal(await shellBehind({ ...wall, wall: 'files' }).placeOf(undefined), 'open_host');
  });

  it('SH-6: a start waits for the process behind it, and is refused where that does not come up', async () => {
    const launch = createWalledLauncher(() => ['/bin/false']);
    const asked = { file: '/bin/true', args: [], cwd: '/', env: {} };
    await assert.rejects(launch(asked), /that starts commands did not come up/);
    await assert.rejects(launch(asked), /that starts commands did not come up/);
    const failing: HostWall = { ...wall, start: launch };
    const { ended, stderr } = await shellBehind(failing).run({
      command: 'cat api-key',
      cwd: settings.stateDir,
      pwd: settings.stateDir,
      timeoutMs: 1_000,
      callId: 'call',
      signal: new AbortController().signal,
    });
    assert.deepEqual([ended, stderr], ['unstarted', 'the process that starts commands did not come up']);
  });

  it('SH-6: one that is lost under a command is told as lost, and the next stands behind a wall again', async () => {
    const running = run('echo $PPID; sleep 300');
    const starter = await eventually(async () => {
      const mine = (await processTable()).filter(({ parent }) => parent === process.pid);
      const lines = mine.map(async ({ pid }) => [
        pid,
        await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
      ]);
      return (await Promise.all(lines)).find(([, line]) => /wall\.py.*\0serve\0/s.test(String(line)))?.[0];
    });
    await sleep(100);
    process.kill(Number(starter), 'SIGKILL');
    assert.equal((await running).ended, 'lost');
    const again = await run(`cat ${settings.stateDir}/api-key; echo again`);
    assert.match(again.stderr, refused);
    assert.equal(again.stdout, 'again\n');
  });

  it('SH-6: a command with an environment of its own is not seen by other commands, nor is who starts them', async () => {
    const secret = run('echo $$ >pid; sleep 30 & wait', { env: { TOKEN: 'of a tool' } });
    const pid = await eventually(async () => readFile(join(workspace, 'pid'), 'utf8').catch(() => undefined));
    const looks = `for p in ${pid.trim()} $PPID; do cat /proc/$p/environ /proc/$p/mem; ls /proc/$p/cwd/; done; kill ${pid.trim()}`;
    const { stdout, stderr } = await run(looks);
    assert.equal(stdout, '');
    assert.equal(stderr.match(/Permission denied|Operation not permitted/g)?.length, 7, stderr);
    process.kill(Number(pid));
    await secret;
  });

  it('SH-6: a program with credentials has its own folder and no other of the state folder', async () => {
    const folders = ['own', 'of-another'].map((name) => join(settings.stateDir, 'credentials', name));
    for (const folder of folders) {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, 'key'), 'credential');
    }
    const [folder = '', other = ''] = folders;
    const script = `cat ${folder}/key; ls ${folder}; echo x >${folder}/made; cat ${other}/key; cat ${settings.stateDir}/api-key; ls ${folder}/..`;
    const { stdout, stderr } = await run({
      file: '/bin/sh',
      args: ['-c', script],
      environment: { HOME: folder },
      folder,
    });
    assert.equal(stdout, 'credentialkey\n');
    assert.equal(stderr.match(/Permission denied/g)?.length, 3, stderr);
  });

  it('bubblewrap makes its box, which a wall around it would forbid', async (t) => {
    const bubblewrap = createBubblewrap((process.env['PATH'] ?? '').split(':'));
    if (!(await bubblewrap.works())) return t.skip('not here');
    const sandbox = sandboxOf({}, 'preferred') ?? assert.fail();
    const { stdout } = await run('pwd', { prefix: await bubblewrap.prefix(workspace, '', sandbox) });
    assert.equal(stdout, '/workspace\n');
  });

  it('SH-6: beside what is hidden small files are seen; a rule for a large one would keep it on its disk once it is deleted', async () => {
    const beside = await mkdtemp(join(homedir(), '.tempoclaw-beside-'));
    try {
      await writeFile(join(beside, 'small'), 'small');
      await writeFile(join(beside, 'large'), Buffer.alloc((1 << 20) + 1));
      const stateDir = join(beside, 'state');
      await mkdir(stateDir);
      const { host } = await proveWall({
        ...settings,
        stateDir,
        workspaceRoot: join(stateDir, 'workspaces'),
      });
      const { stdout, stderr } = await shellBehind(host).run({
        command: `cat ${beside}/small; head -c 9 ${beside}/large`,
        cwd: join(stateDir, 'workspaces'),
        pwd: join(stateDir, 'workspaces'),
        timeoutMs: 10_000,
        callId: 'call',
        signal: new AbortController().signal,
      });
      host.close();
      assert.equal(stdout, 'small');
      assert.match(stderr, refused);
    } finally {
      await rm(beside, { recursive: true });
    }
  });

  it('SH-6: commands write in the temporary folder, where no socket is that they could put their own in the place of', async () => {
    const [temporary, before_] = [join(settings.stateDir, 'tmp'), process.env['TMPDIR']];
    await mkdir(temporary);
    process.env['TMPDIR'] = temporary;
    try {
      const stateDir = join(settings.stateDir, 'state');
      const { host } = await proveWall({
        ...settings,
        stateDir,
        workspaceRoot: join(stateDir, 'workspaces'),
      });
      const { stdout } = await shellBehind(host).run({
        command: `echo x >${temporary}/x; ls ${temporary}; find ${temporary} -type s`,
        cwd: temporary,
        pwd: temporary,
        timeoutMs: 10_000,
        callId: 'call',
        signal: new AbortController().signal,
      });
      host.close();
      assert.match(stdout, /^tempoclaw-commands-\w+\nx\n$/);
    } finally {
      if (before_ === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before_;
    }
  });

  it('leaves no part of what a command does behind, and its temporary files go with the worker', async () => {
    const { stdout, leftovers } = await run('setsid sleep 300 & mktemp');
    assert.equal(leftovers, 1);
    const proven = await proveWall(settings);
    const made = await shellBehind(proven.host).run({
      command: 'mktemp',
      cwd: workspace,
      pwd: workspace,
      timeoutMs: 10_000,
      callId: 'call',
      signal: new AbortController().signal,
    });
    proven.host.close();
    await assert.rejects(readFile(made.stdout.trim()), /ENOENT/);
    assert.equal((await readFile(stdout.trim())).length, 0);
  });
});

describe('the wall of macOS', () => {
  it('hides, then shows the workspaces below; closes ports, sockets and services; keeps quotes in names', () => {
    const profile = seatbeltProfile({ hidden: ['/s"t'], writable: ['/s"t/workspaces'], ports: [7233] });
    const lines = profile.split('\n');
    const at = (line: string): number => lines.indexOf(line);
    assert.ok(
      at(String.raw`(deny file-read-data file-read-xattr process-exec* (subpath "/s\"t"))`) > 0,
      profile,
    );
    assert.equal(
      at(String.raw`(allow file-read* file-write* process-exec* (subpath "/s\"t/workspaces"))`),
      at(String.raw`(deny file-read-data file-read-xattr process-exec* (subpath "/s\"t"))`) + 1,
    );
    for (const line of [
      '(deny network-outbound (remote tcp "*:7233"))',
      '(deny mach-lookup)',
      '(deny file-write*)',
    ])
      assert.ok(at(line) > 0, line);
  });
});

describe('no wall', () => {
  it('starts commands as the worker does', async () => {
    const { start, prefix, wall } = withoutWall();
    const { stdout } = await start({ file: '/bin/echo', args: ['here'], cwd: '/', env: {} });
    assert.equal(String((await stdout.toArray())[0]), 'here\n');
    assert.deepEqual([prefix(), wall], [[], 'none']);
  });
});

async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (const until = Date.now() + 60_000; ; ) {
    const found = await look();
    if (found !== undefined && found !== '') return found;
    assert.ok(Date.now() < until);
    await sleep(20);
  }
}
