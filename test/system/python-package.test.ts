/**
 * The package for Python as pip builds and installs it: its client with a whole TempoClaw whose API is killed in the
 * middle of event streams, and its answers to servers that are wrong.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { createStand, type Stand } from '#test/support/faults.ts';
import { PYTHON_PACKAGE, pythonForPackage, skipWithoutPython } from '#test/support/python.ts';

const run = promisify(execFile);
const KILLS = 4;
/** Takes half a minute, so that the API is killed while it goes on. */
const TEXT = Array.from({ length: 30 }, (_, n) => `Step ${n}.\nexec {"command":"sleep 0.5; echo ran-${n}."}`)
  .concat('The end.')
  .join('\nthen\n');

const FOLLOW = `
session = client.session("followed")
session.send(text, agent="main")
ids, kinds = [], []
for event in session.events():
    ids.append(event["id"])
    kinds.append(event["type"])
    if event["type"] == "turn.completed":
        break
result = {"ids": ids, "kinds": kinds}
`;
const SEND = `
from concurrent.futures import ThreadPoolExecutor
client.request("GET /v1/me")
print("ready", flush=True)
with ThreadPoolExecutor(12) as pool:
    sent = pool.map(lambda n: client.session("once").send(f"message {n}", mode="queue"), range(12))
    result = [one["turn_id"] for one in sent]
`;
const REFUSED = `
def code_of(work):
    try:
        work()
    except TempoClawError as error:
        return [error.code, error.status, error.remedy != ""]
result = [
    code_of(lambda: client.session("s").send("Hello", agent="nobody")),
    code_of(lambda: Client(client_url, "tc_wrong").request("GET /v1/me")),
    code_of(lambda: next(Client(client_url, "tc_wrong").session("s").events())),
    code_of(lambda: client.approvals.decide("approval_none", "approve")),
    code_of(lambda: client.request("GET /v1/nothing")),
    code_of(lambda: client.request("GET /v1/agents/{key}", params={"key": ".."})),
    code_of(lambda: client.request("GET /v1/agents", query={"page": 2})),
    code_of(lambda: client.request("GET /v1/sessions/{key}/events", params={"key": "s"})),
    code_of(lambda: Client("http://127.0.0.1:9", patience=5).request("GET /v1/me")),
    code_of(lambda: Client("http://ann:secret@127.0.0.1/")),
    code_of(lambda: Client(client_url, "tc_a\\nb: c").request("GET /v1/me")),
]
`;

const skip = await skipWithoutPython();

describe('IN-12 the package for Python', { skip, timeout: 600_000 }, () => {
  let folder: string;
  let python: string;
  let stand: Stand;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'python-package-'));
    const builder = await pythonForPackage();
    const wheels = join(folder, 'wheels');
    const how = ['--quiet', '--no-deps', '--no-build-isolation', '--wheel-dir', wheels];
    await run(builder, ['-m', 'pip', 'wheel', ...how, PYTHON_PACKAGE]);
    const [wheel = assert.fail('no wheel')] = await readdir(wheels);
    await run('python3', ['-m', 'venv', join(folder, 'venv')]);
    python = join(folder, 'venv/bin/python');
    await run(python, ['-m', 'pip', 'install', '--quiet', join(wheels, wheel)]);
    stand = await createStand({ workers: 1 });
  });
  after(async () => {
    await stand?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs a program that has `client` and `text`, and returns its `result`. */
  async function program(
    name: string,
    body: string,
    url = stand.apiUrl,
    onReady: () => void = () => undefined,
  ): Promise<any> {
    const head = `import json, os
from tempoclaw import Client, TempoClawError
client_url = os.environ["TEMPOCLAW_URL"]
text = ${JSON.stringify(TEXT)}
client = Client(patience=60)
`;
    const file = join(folder, `${name}.py`);
    await writeFile(file, `${head}${body}\nprint(json.dumps(result))\n`);
    const env = {
      PATH: process.env['PATH'],
      TEMPOCLAW_URL: url,
      TEMPOCLAW_API_KEY: stand.tenants[0].key,
    };
    const running = run(python, [file], { env, maxBuffer: 64 * 1024 * 1024 });
    running.child.stdout?.on('data', (data: Buffer) => {
      if (data.toString().startsWith('ready')) onReady();
    });
    const { stdout } = await running;
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  }

  it('follows events over kills of the API without a gap and without a duplicate', async () => {
    const followed = program('follow', FOLLOW);
    for (let n = 0; n < KILLS; n += 1) {
      await Promise.race([followed, new Promise((done) => setTimeout(done, 2_500))]);
      await stand.api.kill();
      await stand.api.start();
    }
    const { ids, kinds } = await followed;
    assert.deepEqual(
      ids,
      ids.map((_: number, n: number) => n + 1),
    );
    assert.equal(kinds.filter((kind: string) => kind === 'tool.completed').length, 30);
  });

  it('sends a message once when the API is killed while it is sent', async () => {
    let isReady: () => void = () => undefined;
    const ready = new Promise<void>((done) => {
      isReady = done;
    });
    const sent = program('send', SEND, stand.apiUrl, isReady);
    await Promise.race([ready, sent]);
    await stand.api.kill();
    await stand.api.start();
    assert.equal(new Set(await sent).size, 12);
    const [{ key }] = stand.tenants;
    await stand.until('all turns have ended', async () => {
      const address = `${stand.apiUrl}/v1/sessions/once/messages?limit=100`;
      const answer = await fetch(address, { headers: { authorization: `Bearer ${key}` } });
      const { data }: any = await answer.json();
      if (data.length < 24) return undefined;
      const texts = data.filter(({ role }: any) => role === 'user').map(({ text }: any) => text);
      assert.deepEqual([texts.length, new Set(texts).size], [12, 12]);
      return true;
    });
  });

  it('says with a code and a remedy what was refused, by the API or by itself', async () => {
    assert.deepEqual(await program('refused', REFUSED), [
      ['NotFound', 404, true],
      ['Unauthorized', 401, true],
      ['Unauthorized', 401, true],
      ['NotFound', 404, true],
      ['InvalidRequest', 0, true],
      ['InvalidRequest', 0, true],
      ['InvalidRequest', 0, true],
      ['InvalidRequest', 0, true],
      ['Unreachable', 0, true],
      ['InvalidRequest', 0, true],
      ['InvalidRequest', 0, true],
    ]);
  });

  it('continues a stream behind its last event, and repeats a POST with the same key, but no PATCH', async (t) => {
    const event = (id: number): string => `id: ${id}\r\nevent: x\r\ndata: {"id":\r\ndata: ${id}}\r\n\r\n`;
    const { url, requests } = await serve(t, (n, response) => {
      const { line, headers } = requests[n] ?? assert.fail();
      if (line.startsWith('PATCH')) return void response.destroy();
      if (line.startsWith('POST')) {
        const isFirst = requests.filter((one) => one.line === line).length === 1;
        return void response
          .writeHead(isFirst ? 429 : 202, { 'content-type': 'application/json', 'retry-after': '1' })
          .end('{"turn_id":"t"}');
      }
      const after = Number(headers['last-event-id']);
      if (after === 7) return void response.writeHead(503).end('away');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`: a comment\n\n${event(after)}${event(after + 1)}`);
      response.write(event(after + 2).slice(0, 9));
      setTimeout(() => response.write(event(after + 2).slice(9) + event(after + 3).slice(0, 12)), 20);
      setTimeout(() => response.destroy(), 60);
    });
    const result = await program(
      'served',
      `
turn = client.session("s").send("Hello", wait=2)
try:
    client.request("PATCH /v1/agents/{key}", params={"key": "a b/ü"}, body={})
except TempoClawError as error:
    patched = error.code
result = [turn, patched, [event["id"] for event, _ in zip(client.session("s").events(after=5), range(1))]]
ids = []
for event in client.session("s").events(after=9):
    ids.append(event["id"])
    if event["id"] == 15:
        break
result.append(ids)`,
      url,
    );
    assert.deepEqual(result, [{ turn_id: 't' }, 'Unreachable', [6], [10, 11, 12, 13, 14, 15]]);
    const posts = requests.filter(({ line }) => line === 'POST /v1/sessions/s/messages?wait=2');
    assert.equal(posts.length, 2);
    assert.equal(new Set(posts.map(({ headers }) => headers['idempotency-key'])).size, 1);
    assert.equal(requests.filter(({ line }) => line === 'PATCH /v1/agents/a%20b%2F%C3%BC').length, 1);
  });

  for (const [name, head, body, code] of [
    ['no JSON', { 'content-type': 'application/json' }, '{"a":', 'InvalidAnswer'],
    ['too large', { 'content-type': 'application/json' }, '['.repeat(5_000), 'TooLargeAnswer'],
    ['a page of HTML', { 'content-type': 'text/html' }, '<h1>Log in</h1>', 'InvalidAnswer'],
    ['a redirect', { location: 'http://127.0.0.1:9/' }, '', 'Http307'],
  ] as const)
    it(`takes an answer that is ${name} as an error`, async (t) => {
      const { url } = await serve(t, (_, response) =>
        response.writeHead(name === 'a redirect' ? 307 : 200, head).end(body),
      );
      const work = `
try:
    Client(client_url, max_bytes=1000).request("GET /v1/me")
except TempoClawError as error:
    result = error.code`;
      assert.equal(await program('hostile', work, url), code);
    });

  it('takes a file as its bytes, whatever type it has', async (t) => {
    const head = { 'content-type': 'application/json', 'content-disposition': 'attachment' };
    const { url } = await serve(t, (_, response) => response.writeHead(200, head).end('{"cut'));
    const work = `
result = Client(client_url).request("GET /v1/artifacts/{id}", params={"id": "a"}).hex()`;
    assert.equal(await program('file', work, url), Buffer.from('{"cut').toString('hex'));
  });
});

/** `answer` gets the number of the request, from 0. */
async function serve(t: TestContext, answer: (n: number, response: ServerResponse) => void) {
  const requests: { readonly line: string; readonly headers: IncomingHttpHeaders }[] = [];
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    request.resume();
    answer(requests.push({ line: `${method} ${url}`, headers }) - 1, response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}
