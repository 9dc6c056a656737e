/** A node does what it was started for, below its folder, within limits, and no more. */
import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type NodePolicy, ownCapabilities } from '../program/capabilities.ts';
import type { NodeResult } from '../schema.ts';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

interface Asked {
  readonly signal?: AbortSignal;
  readonly milliseconds?: number;
}

async function bench(t: TestContext, policy: Partial<NodePolicy> = {}) {
  const base = await temporaryFolder(t);
  const folder = join(base, 'folder');
  await mkdir(folder);
  const environment = { PATH: process.env['PATH'] ?? '', SEEN: 'yes' };
  const all = ownCapabilities({ folder, allowRun: ['**'], environment, ...policy });
  const ask = (name: string, params: object, input: Asked = {}): Promise<NodeResult> => {
    const own = all.find((one) => one.name === name) ?? assert.fail(`no ${name}`);
    const { signal = new AbortController().signal, milliseconds = 60_000 } = input;
    return own.run({ params: { ...params }, signal, milliseconds });
  };
  return {
    base,
    folder,
    names: all.map(({ name }) => name),
    read: (params: object) => ask('file.read', params),
    run: (params: object, input?: Asked) => ask('system.run', params, input),
    ask,
  };
}

describe('TL nodes what our own node can be asked', () => {
  it('declares what it was started for', async (t) => {
    const nothing = await bench(t, { folder: undefined, allowRun: [] });
    assert.deepEqual(nothing.names, ['system.info']);
    assert.equal(JSON.parse((await nothing.ask('system.info', {})).text).platform, process.platform);
    assert.deepEqual((await bench(t)).names, ['system.info', 'file.read', 'system.run']);
  });

  it('reads files of its folder in parts, other bytes as base64', async (t) => {
    const { folder, read } = await bench(t);
    await writeFile(join(folder, 'a.txt'), 'one two three');
    await writeFile(join(folder, 'b.bin'), Buffer.from([0, 255]));
    assert.deepEqual(await read({ path: 'a.txt' }), { ok: true, text: 'one two three' });
    assert.equal((await read({ path: 'a.txt', offset: 4, bytes: 3 })).text, 'two\n[bytes 4 to 7 of 13]');
    assert.equal((await read({ path: join(folder, 'b.bin') })).text, 'base64:AP8=');
    assert.equal((await read({ path: 'a.txt', bytes: 1e9 })).code, 'InvalidArgs');
    assert.equal((await read({})).code, 'InvalidArgs');
  });

  it('reads nothing outside of it, by no way', async (t) => {
    const { base, folder, read } = await bench(t);
    await writeFile(join(base, 'secret'), 'secret');
    await mkdir(join(base, 'folder-beside'));
    await writeFile(join(base, 'folder-beside', 'secret'), 'secret');
    await symlink(join(base, 'secret'), join(folder, 'link'));
    await symlink(base, join(folder, 'up'));
    const ways = [
      '../secret',
      'link',
      'up/secret',
      join(base, 'secret'),
      '../folder-beside/secret',
      '.',
      'nothing',
      'a\0b',
    ];
    for (const path of ways) assert.equal((await read({ path })).code, 'FileNotFound', path);
  });

  it('reads nothing of its own state, though that is below its folder', async (t) => {
    const base = await temporaryFolder(t);
    const stateDir = join(base, 'state');
    await mkdir(stateDir);
    await writeFile(join(stateDir, 'credential.json'), 'token');
    await symlink(stateDir, join(base, 'link'));
    await writeFile(join(base, 'state.txt'), 'ours');
    const { read, run } = await bench(t, { folder: base, stateDir });
    for (const path of ['state/credential.json', 'link/credential.json'])
      assert.equal((await read({ path })).code, 'FileNotFound', path);
    assert.equal((await run({ command: 'ls', cwd: 'state' })).code, 'InvalidPath');
    assert.equal((await read({ path: 'state.txt' })).text, 'ours');
  });

  it('runs a program without a shell, in its folder, with its own environment', async (t) => {
    const { folder, run } = await bench(t);
    const shown = await run({ command: 'echo', args: ['$SEEN; `id`', '> x'] });
    assert.deepEqual(shown, { ok: true, code: undefined, text: 'exit code 0\nstdout:\n$SEEN; `id` > x\n' });
    assert.match((await run({ command: 'pwd' })).text, new RegExp(folder));
    const { text } = await run({ command: 'env' });
    assert.ok(text.includes('SEEN=yes') && !text.includes('TEST_'));
    const failed = await run({ command: 'sh', args: ['-c', 'echo bad >&2; exit 3'] });
    assert.deepEqual(failed, { ok: false, code: 'ExecutionFailed', text: 'exit code 3\nstderr:\nbad\n' });
    assert.match((await run({ command: 'no-such-program' })).text, /cannot be started/);
    assert.equal((await run({ command: 'pwd', cwd: '..' })).code, 'InvalidPath');
    assert.equal((await run({ command: 'echo', args: ['a\0b'] })).code, 'InvalidArgs');
  });

  it('runs nothing that no pattern allows', async (t) => {
    const { run } = await bench(t, { allowRun: ['echo *'] });
    assert.equal((await run({ command: 'echo', args: ['hello'] })).ok, true);
    const refused = await run({ command: 'sh', args: ['-c', 'echo hello'] });
    assert.match(`${refused.code} ${refused.text}`, /PermissionDenied .*it runs echo \*/);
  });

  it('ends what takes too long or is not wanted any more, with all that it started', async (t) => {
    const { run } = await bench(t);
    const seconds = uniqueSeconds();
    const tree = { command: 'sh', args: ['-c', `sleep ${seconds} & sleep ${seconds}`] };
    assert.equal((await run({ ...tree, timeout_seconds: 0.2 })).code, 'Timeout');
    assert.equal((await run(tree, { milliseconds: 200 })).code, 'Timeout');
    const stop = new AbortController();
    const running = run(tree, { signal: stop.signal });
    assert.ok(await eventually(() => runningWith(seconds).length > 0));
    stop.abort();
    assert.equal((await running).code, 'Cancelled');
    assert.equal((await run(tree, { signal: stop.signal })).code, 'Cancelled');
    assert.ok(await eventually(() => runningWith(seconds).length === 0));
  });

  it('is over when its program is, though something it left holds its output', async (t) => {
    const { run } = await bench(t);
    const seconds = uniqueSeconds();
    t.after(() => {
      for (const pid of runningWith(`sleep ${seconds}`)) process.kill(pid, 'SIGKILL');
    });
    const remaining = await run({ command: 'setsid', args: ['-f', 'sleep', seconds] });
    assert.equal(remaining.ok, true, remaining.text);
  });

  it('keeps the beginning and the end of much output', async (t) => {
    const { run } = await bench(t);
    const { text } = await run({ command: 'seq', args: ['200000'] });
    assert.ok(text.length < 70_000 && text.includes('\n1\n2\n') && text.includes('199999\n200000\n'));
    assert.match(text, /bytes are left out/);
  });
});
