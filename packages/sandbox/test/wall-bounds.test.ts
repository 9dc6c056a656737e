/** Limits on what the commands of one workspace use together on the host. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ownIdentity, proveWall, type CommandOutcome, createShell, type HostWall } from '@tempoclaw/sandbox';
import { hasWall, temporaryFolder } from './support/folders.ts';
import { eventually } from './support/processes.ts';
import { bounds } from './support/settings.ts';

describe('the bounds of commands', { skip: hasWall() ? false : 'this kernel has no Landlock' }, () => {
  const cleanup: (() => unknown)[] = [];
  let workspace: string;
  let wall: HostWall;
  const run = (command: string): Promise<CommandOutcome> =>
    createShell({
      name: 'test',
      environment: { PATH: process.env['PATH'] ?? '' },
      worker: ownIdentity(),
      graceMs: 100,
      wall,
    }).run({
      command,
      cwd: workspace,
      pwd: workspace,
      folders: [workspace],
      timeoutMs: 100_000,
      callId: 'call',
      signal: new AbortController().signal,
    });
  before(async () => {
    const stateDir = await temporaryFolder({ after: (act) => cleanup.push(act as () => unknown) });
    const workspaceRoot = join(stateDir, 'workspaces');
    workspace = join(workspaceRoot, 'default', 'main');
    await mkdir(workspace, { recursive: true });
    const proven = await proveWall({
      stateDir,
      workspaceRoot,
      secretFiles: [],
      commandFolders: [join(stateDir, 'credentials')],
      program: fileURLToPath(new URL('../../..', import.meta.url)),
      ports: [],
      bounds: bounds({ processes: 300, memory: 400 << 20, disk: 100 << 20 }),
    });
    wall = proven.host;
  });
  after(async () => {
    wall.close();
    for (const act of cleanup) await act();
  });

  it('what passes its memory is ended with words, also where it lies in several processes or in no process at all', async () => {
    const takes = [
      'x = [b"x" * (1 << 20) for _ in range(900)]',
      'import os\nfor _ in range(4): os.fork()\nx = b"x" * (100 << 20)',
      'import os\nfd = os.memfd_create("m")\nfor _ in range(900): os.write(fd, b"x" * (1 << 20))',
    ];
    for (const code of takes) {
      await writeFile(join(workspace, 'takes.py'), `${code}\nimport time\ntime.sleep(60)\n`);
      const { ended, stderr } = await run('python3 takes.py');
      assert.equal(ended, 'signal', code);
      assert.match(stderr, /400 MiB of memory at most \(limits\.memory\)/);
    }
  });

  it('what passes its disk is ended with words, and then its workspace only lets files be removed', async () => {
    const words = /100 MiB of disk at most \(limits\.disk\)/;
    const written = await run('for i in $(seq 300); do head -c 5M /dev/zero >big.$i; sleep 0.01; done');
    assert.equal(written.ended, 'signal');
    assert.match(written.stderr, words);
    const again = await run('echo x >one-more');
    assert.notEqual(again.exitCode, 0);
    assert.match(again.stderr, words);
    assert.equal((await run('rm big.*')).exitCode, 0);
    assert.equal((await run('echo x >one-more; cat one-more')).stdout, 'x\n');
    const aside = await run('fallocate -l 80M aside && fallocate -l 30M more');
    assert.match(aside.stderr, words);
    assert.equal((await run('stat -c %s aside more; rm aside more')).stdout, `${80 << 20}\n0\n`);
  });

  it('no more processes than their bound are started, and threads count', async () => {
    const forks = `import os, time
n = 0
try:
    while n < 400:
        if os.fork() == 0: time.sleep(100)
        n += 1
except BlockingIOError as error:
    print(n < 300, error.strerror)
`;
    await writeFile(join(workspace, 'forks.py'), forks);
    const forked = await run('python3 forks.py');
    assert.match(forked.stderr, /300 processes and threads at most \(limits\.processes\)/);
    assert.equal(forked.stdout, 'True Resource temporarily unavailable\n');
    const threads =
      'import threading\nfor _ in range(400): threading.Thread(target=threading.Event().wait, daemon=True).start()';
    await writeFile(join(workspace, 'threads.py'), `${threads}\n`);
    assert.match((await run('python3 threads.py')).stderr, /can't start new thread/);
    assert.equal((await run('echo again')).stdout, 'again\n');
  });

  it('a command that is started with a wall of its own has the same bounds, and shares them with the others of its workspace', async () => {
    const [program = '', ...words] = wall.prefix([workspace]);
    const env = { ...wall.environment([workspace]), PATH: process.env['PATH'] ?? '' };
    const holds = `import time\nx = b"x" * (100 << 20)\nopen("holds", "w").close()\ntime.sleep(60)\n`;
    await writeFile(join(workspace, 'holds.py'), holds);
    const background = spawn(program, [...words, 'python3', 'holds.py'], {
      cwd: workspace,
      env,
      stdio: 'ignore',
    });
    try {
      assert.ok(await eventually(() => existsSync(join(workspace, 'holds'))));
      const { stderr } = await run('python3 -c \'import time; x = b"x" * (350 << 20); time.sleep(60)\'');
      assert.match(stderr, /400 MiB of memory at most/);
      assert.equal(background.exitCode, null, 'one that takes less is spared');
    } finally {
      background.kill();
    }
  });
});
