/** SH-6 as an attacker and as an honest user of the running program: agents whose commands run on the host. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { homedir, networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listeningPorts } from '@tempoclaw/dev-services/processes';
import { eventually } from '#test/support/processes.ts';
import type { Clone, Program } from './program.ts';

const ATTACK = fileURLToPath(new URL('../support/attack.py', import.meta.url));
const AGENT = 'attacker';

/** ABI 4 has ports. */
export function hasWall(): boolean {
  const requested = 'import ctypes; print(ctypes.CDLL(None).syscall(444, None, 0, 1))';
  return process.platform === 'linux' && Number(execFileSync('python3', ['-c', requested])) >= 4;
}

async function agentWorkspace({ folder }: Clone, program: Program): Promise<string> {
  // `python3 x.py` of the workspace needs no approval behind the wall.
  await program.ask('POST', '/v1/agents', { key: AGENT, type: 'open', model: 'rehearsal/follow' });
  const workspace = join(folder, '.tempoclaw', 'workspaces', 'default', AGENT);
  await mkdir(workspace, { recursive: true });
  return workspace;
}

async function turn(program: Program, tool: string, args: unknown): Promise<string> {
  const session = `wall-${Math.random()}`;
  const text = `${tool} ${JSON.stringify(args)}`;
  const path = `/v1/sessions/${session}/messages?wait=120`;
  const { body } = await program.ask('POST', path, { agent: AGENT, text });
  assert.equal(body.status, 'completed', JSON.stringify(body));
  return body.text;
}

/** Disks, and the machine's memory. */
const HARMFUL = /^(?:sd|vd|nvme|xvd|mem|kmem|port|kmsg)/;

/** What is there for an attacker, and where. */
async function factsOf(
  { folder }: Clone,
  program: Program,
  socket: string,
): Promise<Record<string, unknown>> {
  const state = join(folder, '.tempoclaw');
  const { pids } = program.info();
  const ports = Object.values(pids).flatMap(listeningPorts);
  for (const url of [program.run.api, program.run.temporal_ui, program.run.database_url])
    assert.ok(ports.includes(Number(new URL(String(url)).port)), `${url} in ${ports.join()}`);
  const files = (await readdir(state, { withFileTypes: true })).filter((each) => each.isFile());
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return {
    secrets: [
      ...files.map(({ name }) => join(state, name)),
      join(state, 'logs', 'worker.log'),
      join(folder, '.env'),
    ],
    hidden: [state, join(state, 'logs'), folder],
    kept: [
      state,
      folder,
      join(folder, 'workers'),
      homedir(),
      join(homedir(), '.config'),
      '/etc/cron.d',
      '/usr/bin',
    ],
    programs: ['package.json', 'workers/main.ts', 'bin/tempoclaw.js', 'node_modules/pino/package.json'].map(
      (name) => join(folder, name),
    ),
    devices: (await readdir('/dev')).filter((name) => HARMFUL.test(name)).map((name) => `/dev/${name}`),
    pids,
    ports,
    address: own.find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '127.0.0.1',
    socket,
  };
}

/** Nothing of it may be possible, in any way of running a program. */
export async function attackFromBehindTheWall(clone: Clone, program: Program): Promise<void> {
  const workspace = await agentWorkspace(clone, program);
  await writeFile(join(clone.folder, '.env'), 'OPENAI_API_KEY=one');
  await copyFile(ATTACK, join(workspace, 'attack.py'));
  const socket = join(tmpdir(), `attack-${process.pid}`);
  const server = createSocketServer().listen(socket);
  try {
    const facts = await factsOf(clone, program, socket);
    for (const plain of [true, false])
      await writeFile(join(workspace, `facts-${plain}.json`), JSON.stringify({ ...facts, plain }));
    const tool = await program.ask('POST', '/v1/tools/custom', {
      name: 'attack',
      description: 'Attacks.',
      parameters: { type: 'object', properties: {} },
      command: 'python3 attack.py facts-false.json',
      env: { TOKEN: 'of a tool' },
    });
    assert.ok(tool.status === 201 || tool.status === 409, JSON.stringify(tool.body));

    const own = { command: 'python3 attack.py facts-true.json', timeout: 200 };
    assert.match(await turn(program, 'exec', own), NOTHING_DONE);
    assert.match(await turn(program, 'attack', {}), NOTHING_DONE);
    const remaining = { command: 'python3 attack.py facts-false.json >background.json', background: true };
    await turn(program, 'exec', remaining);
    const message = join(workspace, 'background.json');
    const read = (): string => (existsSync(message) ? readFileSync(message, 'utf8') : '');
    assert.ok(await eventually(() => read().endsWith('}\n'), 60_000));
    assert.match(read(), NOTHING_DONE);
  } finally {
    server.close();
  }
}

const NOTHING_DONE = /"done": \[\]\}/;

const HONEST = `
set -e
git init -q repository && cd repository
echo '{"name":"x","version":"1.0.0","scripts":{"test":"node --test"}}' >package.json
echo 'require("node:test")("adds", () => require("node:assert").equal(1 + 1, 2))' >x.test.js
npm test >test.log
git add . && git -c user.name=a -c user.email=a@b commit -qm first && mv x.test.js ../moved.js && git mv package.json other.json
python3 -c 'import multiprocessing as m; print(m.Pool(2).map(abs, [-1, -2]), m.Lock())' >/dev/null
echo $(( $(mktemp | wc -l) + $(echo a | tee >(cat >/dev/null) | wc -l) ))
node -e 'fetch(process.argv[1]).then((answer) => answer.text()).then(console.log)' "$1"
node -e 'const s = require("http").createServer((q, a) => a.end("own")).listen(0, () => fetch("http://127.0.0.1:" + s.address().port).then((a) => a.text()).then((t) => { console.log(t); s.close(); }))'
sleep 0.1 & wait
ls /usr/bin >/dev/null; cat /etc/hosts >/dev/null; ps -p $$ >/dev/null; echo x >/dev/null
echo honest
`;

/** What people do all day. */
export async function workBehindTheWall(clone: Clone, program: Program): Promise<void> {
  const workspace = await agentWorkspace(clone, program);
  await writeFile(join(workspace, 'honest.sh'), HONEST);
  const server = createServer((_request, answer) => answer.end('elsewhere')).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const script = `import subprocess; subprocess.run(["bash", "honest.sh", "${url}"], check=True)`;
  await writeFile(join(workspace, 'honest.py'), script);
  try {
    const text = await turn(program, 'exec', { command: 'python3 honest.py', timeout: 200 });
    assert.match(text, /2\nelsewhere\nown\nhonest/);
  } finally {
    server.close();
  }
}
