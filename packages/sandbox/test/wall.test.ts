/** Commands confined on the host: what a start proves, what is never a fallback, and who is separated. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  type CommandRequest,
  createBubblewrap,
  createLauncher,
  createShell,
  type HostWall,
  ownIdentity,
  processTable,
  proveWall,
  type Shell,
  type WallSettings,
  withoutWall,
} from '@tempoclaw/sandbox';
import { createWalledLauncher } from '../src/launcher.ts';
import { seatbeltProfile } from '../src/seatbelt-profile.ts';
import { hasWall, temporaryFolder } from './support/folders.ts';
import { bounds, box } from './support/settings.ts';

const PROGRAM = fileURLToPath(new URL('../../..', import.meta.url));

function shellBehind(wall: HostWall): Shell {
  const environment = { PATH: process.env['PATH'] ?? '' };
  return createShell({
    name: 'test',
    environment,
    worker: ownIdentity(),
    graceMs: 100,
    launch: createLauncher(),
    wall,
  });
}

describe('a wall', { skip: hasWall() ? false : 'this kernel has no Landlock' }, () => {
  const cleanup: (() => unknown)[] = [];
  let settings: WallSettings;
  let workspace: string;
  let wall: HostWall;
  let shell: Shell;
  const run = (command: CommandRequest['command'], overrides: Partial<CommandRequest> = {}) =>
    shell.run({
      command,
      cwd: workspace,
      pwd: workspace,
      folders: [workspace],
      timeoutMs: 100_000,
      callId: 'call',
      signal: new AbortController().signal,
      ...overrides,
    });
  before(async () => {
    const stateDir = await temporaryFolder({ after: (act) => cleanup.push(act as () => unknown) });
    settings = {
      stateDir,
      workspaceRoot: join(stateDir, 'workspaces'),
      secretFiles: [],
      commandFolders: [join(stateDir, 'credentials')],
      program: PROGRAM,
      ports: [],
      bounds: bounds({ processes: 2_048, memory: 2 ** 33, disk: 2 ** 33 }),
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
  /** The path at which commands see it. */
  const support = async (name: string): Promise<string> => {
    await copyFile(fileURLToPath(new URL(`support/${name}`, import.meta.url)), join(workspace, name));
    return name;
  };

  it('is proven whole here, and counts as none where it cannot be', async () => {
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

  it('a start waits for the process behind it, and is refused where that does not come up', async () => {
    const launch = createWalledLauncher(() => ['/bin/false']);
    const request = { file: '/bin/true', args: [], cwd: '/', env: {}, folders: [] };
    await assert.rejects(launch(request), /that starts commands did not come up/);
    await assert.rejects(launch(request), /that starts commands did not come up/);
    const failing: HostWall = { ...wall, start: launch };
    const { ended, stderr } = await shellBehind(failing).run({
      command: 'cat api-key',
      cwd: settings.stateDir,
      pwd: settings.stateDir,
      folders: [],
      timeoutMs: 1_000,
      callId: 'call',
      signal: new AbortController().signal,
    });
    assert.deepEqual([ended, stderr], ['unstarted', 'the process that starts commands did not come up']);
  });

  it('one that is lost under a command is told as lost, and the next stands behind a wall again', async () => {
    const running = run('echo $PPID; sleep 300');
    const starter = await eventually(async () => {
      const mine = (await processTable()).filter(({ parent }) => parent === process.pid);
      const lines = mine.map(async ({ pid }) => [
        pid,
        await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
      ]);
      const isOurs = (line: string): boolean =>
        line.includes(settings.stateDir) && line.includes('\0serve\0');
      return (await Promise.all(lines)).find(([, line]) => isOurs(String(line)))?.[0];
    });
    await sleep(100);
    process.kill(Number(starter), 'SIGKILL');
    assert.equal((await running).ended, 'lost');
    const again = await run(`cat ${settings.stateDir}/api-key; echo again`);
    assert.match(again.stderr, refused);
    assert.equal(again.stdout, 'again\n');
  });

  it('a command with an environment of its own is not seen by other commands, nor is who starts them', async () => {
    const secret = run('echo $$ >pid; sleep 30 & wait', { env: { TOKEN: 'of a tool' } });
    const pid = await eventually(async () => readFile(join(workspace, 'pid'), 'utf8').catch(() => undefined));
    const looks = `for p in ${pid.trim()} $PPID; do cat /proc/$p/environ /proc/$p/mem; ls /proc/$p/cwd/; done; kill ${pid.trim()}`;
    const { stdout, stderr } = await run(looks);
    assert.equal(stdout, '');
    assert.equal(stderr.match(/Permission denied|Operation not permitted/g)?.length, 7, stderr);
    process.kill(Number(pid));
    await secret;
  });

  it('a program with credentials has its own folder and no other of the state folder', async () => {
    const folders = ['own', 'of-another'].map((name) => join(settings.stateDir, 'credentials', name));
    for (const folder of folders) {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, 'key'), 'credential');
    }
    const [folder = '', other = ''] = folders;
    const script = `cat ${folder}/key; ls ${folder}; echo x >${folder}/made; cat ${other}/key; cat ${settings.stateDir}/api-key; ls ${folder}/..`;
    const program = { file: '/bin/sh', args: ['-c', script], environment: { HOME: folder } };
    const { stdout, stderr } = await run(program, { folders: [workspace, folder] });
    assert.equal(stdout, 'credentialkey\n');
    assert.equal(stderr.match(/Permission denied/g)?.length, 3, stderr);
  });

  it('users of one agent are apart: files, temporary files, caches, processes and their variables', async () => {
    const bens = join(settings.workspaceRoot, 'default', 'main.user-ben');
    await mkdir(bens, { recursive: true });
    const asBen = { cwd: bens, pwd: bens, folders: [bens] };
    const secret = run(
      'echo of ann >notes; echo of ann >$TMPDIR/notes; echo $TMPDIR; echo $$ >anns; sleep 30',
    );
    const pid = await eventually(async () =>
      readFile(join(workspace, 'anns'), 'utf8').catch(() => undefined),
    );
    const { TMPDIR = '', npm_config_cache: npm = '' } = wall.environment([workspace]);
    const looks = [
      `cat ${workspace}/notes`,
      `ls ${workspace}`,
      `ls ${settings.workspaceRoot}/default`,
      `echo changed >${workspace}/notes`,
      `rm ${workspace}/notes`,
      `mv ${workspace}/notes .`,
      `cat ${TMPDIR}/notes`,
      `touch ${npm}/x`,
      `echo x >/tmp/${randomUUID()}`,
      'ls /tmp',
      `kill ${pid.trim()}`,
      `cat /proc/${pid.trim()}/environ`,
      `ls /proc/${pid.trim()}/cwd/`,
    ];
    const { stdout, stderr } = await run(looks.join('; '), asBen);
    assert.equal(stdout, '');
    assert.equal(stderr.match(/Permission denied|Operation not permitted/g)?.length, looks.length, stderr);
    process.kill(Number(pid));
    assert.match((await secret).stdout, new RegExp(`^${TMPDIR}\n`));
    const mine = await run('mktemp -d; echo mine >mine; cat mine; mkfifo p; ls -d $PWD', asBen);
    assert.match(mine.stdout, /\/tmp\.\w+\nmine\n.*main\.user-ben\n$/, mine.stderr);
  });

  it('no call of a command touches another process, by whatever number it goes', async () => {
    const { stdout, stderr } = await run(`python3 ${await support('attack-processes.py')} ${process.pid}`);
    assert.equal(stdout, 'itself []\nanother []\n', stderr);
  });

  it('modes, owners, times and attributes are changed of its own files alone', async () => {
    const other = join(settings.workspaceRoot, 'default', 'of-another');
    await mkdir(other, { recursive: true });
    await writeFile(join(other, 'file'), 'x', { mode: 0o600 });
    const key = join(settings.stateDir, 'api-key');
    const before_ = await Promise.all([key, other].map((path) => stat(path)));
    const script = `python3 ${await support('attack-modes.py')} ${key} ${other}/file ${other} ${homedir()}`;
    const { stdout, stderr } = await run(script);
    assert.equal(stdout, 'others []\nown whole\n', stderr);
    assert.deepEqual(
      (await Promise.all([key, other].map((path) => stat(path)))).map(({ mode, mtimeMs, uid }) => [
        mode,
        mtimeMs,
        uid,
      ]),
      before_.map(({ mode, mtimeMs, uid }) => [mode, mtimeMs, uid]),
    );
    const honest = await run(
      'umask 022; mkdir -p a && echo x >a/x && chmod 750 a/x && touch -d 2001-02-03T04:05:06Z a/x && tar cf a.tar a && rm -r a && tar xpf a.tar && cp -p a/x b && ln -sf b c && touch -h c && TZ=UTC stat -c "%a %y" b',
    );
    assert.equal(honest.stdout, '750 2001-02-03 04:05:06.000000000 +0000\n', honest.stderr);
  });

  it('a command listens on no port of ours, whether we do or not, and on any other', async () => {
    const port = await closedPort();
    const { host } = await proveWall({ ...settings, ports: [port] });
    const listens = `node -e 'for (const port of [${port}, 0]) require("net").createServer().on("error", (e) => console.log(port, e.code)).listen(port, function () { console.log(port, "listens"); this.close(); })'`;
    const { stdout, stderr } = await shellBehind(host).run({
      command: listens,
      cwd: workspace,
      pwd: workspace,
      folders: [workspace],
      timeoutMs: 60_000,
      callId: 'call',
      signal: new AbortController().signal,
    });
    host.close();
    assert.deepEqual(stdout.trim().split('\n').toSorted(), ['0 listens', `${port} EACCES`], stderr);
  });

  it('what a command leaves behind ends with it, whatever it did to hide', async () => {
    const hides = (seconds: number): string =>
      `python3 -c 'import os; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); os.execve("/bin/sleep", ["sleep", "${seconds}"], {})'`;
    const isLeft = async (seconds: number): Promise<boolean> =>
      (
        await Promise.all(
          (await processTable()).map(({ pid }) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
        )
      ).includes(`sleep\0${seconds}\0`);
    const { leftovers, stdout } = await run(
      `${hides(7_654_321)}; setsid env -i /bin/sleep 7654321 & echo done`,
    );
    assert.deepEqual([leftovers, stdout], [2, 'done\n']);
    assert.equal(await isLeft(7_654_321), false);
    const late = await run(`${hides(7_654_322)}; sleep 100`, { timeoutMs: 1_000 });
    assert.equal(late.ended, 'timeout');
    assert.equal(await isLeft(7_654_322), false);
    const killed = await run(`${hides(7_654_323)}; kill -9 $PPID; sleep 100`);
    assert.equal(killed.ended, 'lost');
    assert.ok(await eventually(async () => !(await isLeft(7_654_323)) || undefined));
    assert.equal((await run('echo again')).stdout, 'again\n');
    // The process two levels up starts the commands of this workspace: a command that stops it affects no other
    // workspace.
    const stopped = run(
      'read -r _ _ _ up _ </proc/$PPID/stat; kill -STOP $up $PPID; echo stopped; sleep 100',
      {
        timeoutMs: 1_000,
      },
    );
    assert.match((await stopped).ended, /^(?:timeout|lost)$/);
    const elsewhere = { cwd: settings.workspaceRoot, pwd: settings.workspaceRoot, folders: [] };
    assert.equal((await run('echo others', elsewhere)).stdout, 'others\n');
    assert.ok(await eventually(async () => (await run('echo mine')).stdout === 'mine\n' || undefined));
  });

  it('bubblewrap makes its box, which a wall around it would forbid', async (t) => {
    const bubblewrap = createBubblewrap((process.env['PATH'] ?? '').split(':'));
    if (!(await bubblewrap.works())) return t.skip('not here');
    const { stdout } = await run('pwd', { prefix: await bubblewrap.prefix(workspace, '', box()) });
    assert.equal(stdout, '/workspace\n');
  });

  it('beside what is hidden small files are seen; a rule for a large one would keep it on its disk once it is deleted', async () => {
    const beside = await mkdtemp(join(homedir(), '.sandbox-beside-'));
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
        folders: [],
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

  it('the temporary folder of a command is its own, and no socket is there that it could put one of its own in the place of', async () => {
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
        command: 'echo x >$TMPDIR/x; ls $TMPDIR; find $TMPDIR/../.. -type s; dirname $TMPDIR',
        cwd: join(stateDir, 'workspaces'),
        pwd: join(stateDir, 'workspaces'),
        folders: [],
        timeoutMs: 10_000,
        callId: 'call',
        signal: new AbortController().signal,
      });
      host.close();
      assert.match(stdout, new RegExp(`^x\n${temporary}/sandbox-commands-[\\w.-]+/\\w+\n$`));
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
      folders: [workspace],
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
    const plan = {
      hidden: ['/s"t'],
      shown: ['/p'],
      apart: ['/s"t/workspaces'],
      ports: [7233],
      bounds: bounds({ processes: 64, memory: 2 ** 30, disk: 2 ** 30 }),
    };
    const profile = seatbeltProfile(plan, ['/s"t/workspaces/own']);
    const lines = profile.split('\n');
    const at = (line: string): number => lines.indexOf(line);
    const unseen = (paths: string): string => `(deny file-read-data file-read-xattr process-exec* ${paths})`;
    const [hidden, apart, own] = ['', '/workspaces', '/workspaces/own'].map(
      (path) => String.raw`(subpath "/s\"t${path}")`,
    );
    const order = [
      unseen(`${hidden} ${apart}`),
      '(allow file-read* process-exec* (subpath "/p"))',
      unseen(`${apart}`),
      `(allow file-read* file-write* process-exec* ${own})`,
    ].map(at);
    assert.ok((order[0] ?? -1) > 0, profile);
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    );
    for (const line of [
      '(deny network-outbound (remote tcp "*:7233"))',
      '(deny network-bind (local tcp "*:7233"))',
      '(deny mach-lookup)',
      '(deny file-write*)',
    ])
      assert.ok(at(line) > 0, line);
  });
});

describe('no wall', () => {
  it('starts commands as the worker does', async () => {
    const { start, prefix, wall } = withoutWall();
    const { stdout } = await start({ file: '/bin/echo', args: ['here'], cwd: '/', env: {}, folders: [] });
    assert.equal(String((await stdout.toArray())[0]), 'here\n');
    assert.deepEqual([prefix([]), wall], [[], 'none']);
  });
});

async function eventually<T>(probe: () => Promise<T | undefined>): Promise<T> {
  for (const until = Date.now() + 60_000; ; ) {
    const found = await probe();
    if (found !== undefined && found !== '') return found;
    assert.ok(Date.now() < until);
    await sleep(20);
  }
}

/** A port of this machine that nothing uses at the moment. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
