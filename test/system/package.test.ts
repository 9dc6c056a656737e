/** The npm package in an empty folder, beside its dependencies: from nothing to a tool of one's own (IN-12). */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { notesFeature } from '#test/docs/pages.ts';
import { cleanEnvironment } from '#test/start/program.ts';
import { eventually, runningWith } from '#test/support/processes.ts';

const run = promisify(execFile);
const ANY_PORTS = {
  TEMPOCLAW_PORT: '0',
  TEMPOCLAW_TEMPORAL_PORT: '0',
  TEMPOCLAW_TEMPORAL_UI_PORT: '0',
  TEMPOCLAW_DATABASE_PORT: '0',
};

describe('IN-12 the npm package', { timeout: 900_000 }, () => {
  let base: string;
  let folder: string;
  /** Folders of the packages that npm installs beside it. */
  let installed: readonly string[];
  let dev: ChildProcess | undefined;
  /** What it has written. */
  let output = '';
  before(async () => {
    base = await mkdtemp(join(tmpdir(), 'package-'));
    folder = join(base, 'empty');
    const packages = join(folder, 'node_modules');
    await mkdir(join(packages, '.bin'), { recursive: true });
    const staged = join(packages, 'tempoclaw');
    await run(process.execPath, ['scripts/build-package.ts', staged]);
    const { packages: pinned } = JSON.parse(await readFile(join(staged, 'npm-shrinkwrap.json'), 'utf8'));
    // Without packages for other platforms.
    installed = Object.keys(pinned).filter((path) => path !== '' && existsSync(path));
    // What npm would install from a registry.
    for (const path of installed.filter((one) => one.lastIndexOf('node_modules/') === 0)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await symlink(resolve(path), join(folder, path));
    }
    await symlink(join(staged, 'bin/tempoclaw.js'), program());
    await writeFile(join(folder, 'package.json'), '{"private":true}');
  });
  after(async () => {
    for (const pid of runningWith(base)) process.kill(pid, 'SIGKILL');
    await rm(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });

  // Tests read fields of answers of every shape.
  let ask: (method: string, path: string, body?: object) => Promise<any>;
  const refunds = (): Promise<string> =>
    readFile(join(folder, 'my-agents/refunds.log'), 'utf8').catch(() => '');

  /** Resolves with the turn, once a person has approved its refund. */
  async function approveRefund(order: string): Promise<string> {
    const text = `refund ${JSON.stringify({ order })}`;
    const { turn_id: turn } = await ask('POST', `/v1/sessions/${order}/messages`, { agent: 'shop', text });
    let approval: string | undefined;
    const isAsked = async (): Promise<boolean> => {
      approval = (await ask('GET', `/v1/approvals?turn_id=${turn}`)).data[0]?.id;
      return approval !== undefined;
    };
    assert.ok(await eventually(isAsked), order);
    await ask('POST', `/v1/approvals/${approval}/decision`, { decision: 'approve' });
    return turn;
  }

  const program = (): string => join(folder, 'node_modules/.bin/tempoclaw');
  const tempoclaw = (...args: readonly string[]) =>
    run(program(), args, { cwd: folder, env: cleanEnvironment() });

  it('has a command that says its version and makes a folder', async () => {
    assert.equal((await tempoclaw('--version')).stdout.trim(), '0.1.0');
    assert.match((await tempoclaw('init', 'my-agents')).stdout, /my-agents\/tools\/refund\.ts/);
  });

  it('has at most 300 MB with all that it needs', async () => {
    const folders = [join(folder, 'node_modules/tempoclaw'), ...installed.map((path) => resolve(path))];
    const sizes = await Promise.all(folders.map(bytesIn));
    const sum = sizes.reduce((all, size) => all + size, 0);
    assert.ok(sum < 300_000_000, `${sum} bytes`);
  });

  it('has each library that it bundles, with the licenses of all', async () => {
    const vendor = join(folder, 'node_modules/tempoclaw/vendor');
    const files = (await readdir(vendor)).filter((name) => name.endsWith('.js'));
    const code = files.map((name) => `await import(${JSON.stringify(join(vendor, name))});`).join('');
    await run(process.execPath, ['--input-type=module', '-e', code]);
    const licenses = await readFile(join(vendor, 'LICENSES.txt'), 'utf8');
    for (const words of [/^fastify [\d.]+ \(MIT\)/m, /^zod [\d.]+ \(MIT\)/m, /^pg [\d.]+ \(MIT\)/m])
      assert.match(licenses, words);
  });

  it('pins all that npm installs beside it, and lists it with what it bundles', async () => {
    const staged = join(folder, 'node_modules/tempoclaw');
    const read = async (name: string): Promise<any> => JSON.parse(await readFile(join(staged, name), 'utf8'));
    const { '': root, ...pinned } = (await read('npm-shrinkwrap.json')).packages;
    assert.deepEqual(root.dependencies, (await read('package.json')).dependencies);
    for (const [path, entry] of Object.entries<any>(pinned)) assert.match(entry.integrity, /^sha512-/, path);
    const { components } = await read('sbom.cdx.json');
    const listed = new Set(components.map(({ purl }: { purl: string }) => purl.replace(/@[^@]*$/, '')));
    for (const name of ['pkg:npm/fastify', 'pkg:npm/%40temporalio/core-bridge', 'pkg:npm/zod'])
      assert.ok(listed.has(name), name);
  });

  it('has the files that docs/operations.md copies from it, and not what other packages are for', async () => {
    const staged = join(folder, 'node_modules/tempoclaw');
    const named = (await readFile('docs/operations.md', 'utf8')).matchAll(
      /node_modules\/tempoclaw\/([\w/.-]*)/g,
    );
    const paths = [...new Set([...named].map(([, path]) => path ?? ''))];
    assert.ok(paths.length > 0);
    for (const path of paths) assert.ok(existsSync(join(staged, path)), path);
    assert.ok(!existsSync(join(staged, 'packages/client')));
  });

  it('has types for a tool of one’s own', async () => {
    const types = await readFile(join(folder, 'node_modules/tempoclaw/types/sdk/tool.d.ts'), 'utf8');
    assert.match(types, /export declare function tool</);
    const file = join(folder, 'my-agents/tools/typed.ts');
    await writeFile(
      file,
      (await readFile(join(folder, 'my-agents/tools/refund.ts'), 'utf8')).replace('{ order }', '{ orders }'),
    );
    const tsc = [
      resolve('node_modules/typescript/bin/tsc'),
      '--noEmit',
      '--ignoreConfig',
      '--module',
      'nodenext',
      file,
    ];
    const roots = ['--typeRoots', resolve('node_modules/@types'), '--types', 'node'];
    const failed = await run(process.execPath, [...tsc, ...roots], { cwd: folder }).catch((error) => error);
    await rm(file);
    assert.equal(
      failed.stdout.match(/error TS\d+: .*/)[0],
      "error TS2339: Property 'orders' does not exist on type '{ order: string; }'.",
    );
  });

  it('has types for a feature of one’s own', async () => {
    const [wrong] = await writeNotes(join(folder, 'my-agents'), (text) =>
      text.replace('{ text }, call', '{ texts }, call'),
    );
    assert.match(wrong ?? '', /error TS\d+: Property 'texts' does not exist on type '{ text: string; }'/);
    assert.deepEqual(await writeNotes(join(folder, 'my-agents')), []);
  });

  /** The feature of docs/features.md; resolves with what the compiler finds. */
  async function writeNotes(
    agents: string,
    change: (text: string) => string = (text) => text,
  ): Promise<readonly string[]> {
    const files = notesFeature().filter(([path]) => !path.includes('/test/'));
    assert.equal(files.length, 6);
    for (const [path, text] of files) {
      await mkdir(dirname(join(agents, path)), { recursive: true });
      await writeFile(join(agents, path), change(text));
    }
    const options =
      '--noEmit --ignoreConfig --strict --skipLibCheck --allowImportingTsExtensions --module nodenext';
    const roots = ['--typeRoots', resolve('node_modules/@types'), '--types', 'node'];
    const sources = files.map(([path]) => join(agents, path)).filter((path) => path.endsWith('.ts'));
    const tsc = [resolve('node_modules/typescript/bin/tsc'), ...options.split(' '), ...roots, ...sources];
    return run(process.execPath, tsc, { cwd: folder }).then(
      () => [],
      (error: { readonly stdout: string }) => error.stdout.trim().split('\n'),
    );
  }

  it('runs the folder, its page and its tool, which a person approves', async (t) => {
    const began = performance.now();
    dev = spawn(program(), ['dev', 'my-agents'], {
      cwd: folder,
      env: cleanEnvironment(ANY_PORTS),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [dev.stdout, dev.stderr])
      stream?.on('data', (data: Buffer) => {
        output += data.toString();
      });
    assert.ok(await eventually(() => output.includes('Follows the changes'), 300_000), output);
    const state = join(folder, 'my-agents/.tempoclaw');
    // Each start takes other ports.
    const running = async (): Promise<{ api: string; key: string }> => {
      const { api, api_key_file: file } = JSON.parse(await readFile(join(state, 'run.json'), 'utf8'));
      return { api, key: (await readFile(file, 'utf8')).trim() };
    };
    ask = async (method, path, body) => {
      const { api, key } = await running();
      const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) };
      const response = await fetch(`${api}${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      return response.json();
    };
    const { api } = await running();
    const page = await fetch(`${api}/`, { headers: { accept: 'text/html' } });
    assert.match(await page.text(), /<!doctype html>/);
    await approveRefund('A17');
    assert.ok(await eventually(async () => (await refunds()) === 'A17\n'), output);
    t.diagnostic(`from a folder to an approved call: ${Math.round((performance.now() - began) / 1000)} s`);
  });

  it('refunds each order once when worker and tools are killed, kill -9, after the approval', async () => {
    const turns: string[] = [];
    for (const order of ['B1', 'B2', 'B3']) {
      turns.push(await approveRefund(order));
      const pids = [...runningWith('workers/main'), ...runningWith('tools serve')];
      const ours = pids.filter((pid) => runningWith(base).includes(pid));
      assert.ok(ours.length >= 2, String(pids));
      for (const pid of ours) process.kill(pid, 'SIGKILL');
      const hasEnded = async (): Promise<boolean> =>
        (await ask('GET', `/v1/turns/${turns.at(-1)}`)).status === 'completed';
      assert.ok(await eventually(hasEnded, 180_000), order);
    }
    assert.equal(await refunds(), 'A17\nB1\nB2\nB3\n');
  });

  it('runs a feature of one’s own, with its table, tool, route and command, and follows its changes', async () => {
    const agents = join(folder, 'my-agents');
    const list = () => run(program(), ['notes', 'list', '--json'], { cwd: agents, env: cleanEnvironment() });
    const note = async (text: string): Promise<void> => {
      const body = { agent: 'shop', text: `note ${JSON.stringify({ text })}` };
      const answer = await ask('POST', '/v1/sessions/desk/messages?wait=60', body);
      assert.equal(answer.status, 'completed', JSON.stringify(answer));
    };
    await note('out of paper');
    assert.partialDeepStrictEqual(JSON.parse((await list()).stdout).data, [
      { agent: 'shop', text: 'out of paper' },
    ]);
    const own = (): Promise<{ digest: string }[]> =>
      ask('GET', '/v1/gateway').then(({ features }) => features);
    const [before] = await own();
    const tool = join(agents, 'features/notes/tools/note.ts');
    const text = await readFile(tool, 'utf8');
    await writeFile(tool, text.replace('export const tool', 'export const tools'));
    assert.ok(await eventually(() => output.includes('exports no tool'), 60_000), output);
    assert.deepEqual(await own(), [before]);
    await writeFile(
      tool,
      text.replace('await notes.take(call, text);', 'await notes.take(call, `${text}!`);'),
    );
    const isNew = async (): Promise<boolean> => {
      const [now] = await own().catch(() => []);
      return now !== undefined && now.digest !== before?.digest;
    };
    assert.ok(await eventually(isNew, 120_000), output);
    await note('again');
    assert.partialDeepStrictEqual(
      JSON.parse((await list()).stdout)
        .data.map((one: { text: string }) => one.text)
        .toSorted(),
      ['again!', 'out of paper'],
    );
  });

  it('runs the evals of the folder, and a recording of a session, and no tool for them', async () => {
    const agents = join(folder, 'my-agents');
    const done = await refunds();
    const inFolder = (...args: readonly string[]) =>
      run(program(), args, { cwd: agents, env: cleanEnvironment() });
    const evals = await inFolder('eval', '--junit', join(base, 'evals.xml'));
    assert.match(evals.stdout, /✔ refunds the order that the customer names, once/);
    assert.match(await readFile(join(base, 'evals.xml'), 'utf8'), /<testcase name="refunds the order/);
    const example = join(agents, 'evals/refunds.eval.ts');
    const text = await readFile(example, 'utf8');
    await writeFile(example, text.replace("{ order: 'A17' }]", "{ order: 'A18' }]"));
    await assert.rejects(inFolder('eval'), { code: 1 });
    const file = join(base, 'a17.rec');
    await inFolder('record', 'A17', '--out', file);
    await inFolder('test', file);
    assert.equal(await refunds(), done);
  });

  it('ends everything with Ctrl-C', async () => {
    assert.ok(dev?.pid);
    process.kill(-dev.pid, 'SIGINT');
    assert.ok(await eventually(() => dev?.exitCode !== null || dev.signalCode !== null), output);
    assert.ok(await eventually(() => runningWith(base).length === 0), runningWith(base).join(' '));
  });
});

/** Of a package, without those in it, which have folders of their own in the list. */
async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const own = entries.filter(
    (entry) => entry.isFile() && !entry.parentPath.slice(folder.length).includes('node_modules'),
  );
  const sizes = await Promise.all(own.map(({ parentPath, name }) => stat(join(parentPath, name))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}
