/** IN-7: browsers get the console at addresses that belong to no route, and programs what they got before. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Api, ApiDeps } from '#api/deps.ts';
import { createServer } from '#api/server/server.ts';
import { startApi, type TestApi } from '#test/support/stack.ts';
import { rawAsk } from '#test/support/raw-ask.ts';
import { openBuiltConsole } from '../built-files.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const SCRIPT = 'export const words = "console";'.repeat(200);

describe('IN-7 the pages of the console', () => {
  let api: TestApi;
  let app: Api;
  let url: string;
  let folder: string;
  before(async () => {
    api = await startApi({ console: { enabled: true } });
    folder = await mkdtemp(join(tmpdir(), 'tempoclaw-console-'));
    const files = openBuiltConsole(pathToFileURL(`${folder}/`));
    const { webConsole } = api.deps;
    assert.ok(webConsole);
    const deps: ApiDeps = {
      ...api.deps,
      webConsole: { ...webConsole, files },
      findPage: ({ url: path }) => files.page(path.startsWith('/below/') ? '/below/' : '/'),
    };
    app = await createServer(deps);
    url = await app.listen({ host: '127.0.0.1', port: 0 });
  });
  after(async () => {
    await app.close();
    await api.stop();
    await rm(folder, { recursive: true });
  });
  const get = (path: string, headers: Record<string, string> = BROWSER, method = 'GET') =>
    fetch(url + path, { headers, method, redirect: 'manual' });
  async function build(words: string, at: number): Promise<void> {
    await mkdir(join(folder, 'assets'), { recursive: true });
    await writeFile(join(folder, 'assets', `index-${words}.js`), SCRIPT);
    const html = `<!doctype html><html><head><base href="/" /><title>${words}</title></head></html>`;
    await writeFile(join(folder, 'index.html'), html);
    await utimes(join(folder, 'index.html'), at, at);
  }

  it('without a build, browsers get the start page, and other addresses are unknown', async () => {
    assert.match(await (await get('/')).text(), /This is the HTTP API/);
    assert.equal((await get('/sessions/a')).status, 404);
  });

  it('are the same at every address without a route, under a strict policy, and are not kept', async () => {
    await build('one', 1_000);
    for (const path of ['/', '/sessions', '/sessions/a%2Fb?x=1', '/agents/main', '/login']) {
      const answer = await get(path);
      assert.equal(answer.status, 200, path);
      assert.match(await answer.text(), /<title>one/);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      assert.equal(answer.headers.get('x-frame-options'), 'SAMEORIGIN');
      const policy = answer.headers.get('content-security-policy') ?? '';
      assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';/);
      assert.doesNotMatch(policy, /unsafe/);
    }
    assert.match(await (await get('/below/sessions')).text(), /<base href="\/below\/"/);
    assert.equal((await get('/sessions', BROWSER, 'HEAD')).status, 200);
  });

  it('hide no route, and are nothing for programs', async () => {
    for (const path of [
      '/v1/sessions',
      '/v1/nothing',
      '/metrics',
      '/console/x',
      '/V1/SESSIONS',
      '//v1/agents',
    ])
      assert.ok([401, 404].includes((await get(path)).status), path);
    for (const [path, type] of [
      ['/docs/errors', /text\/html/],
      ['/openapi.json', /json/],
      ['/healthz', /json/],
    ] as const)
      assert.match((await get(path)).headers.get('content-type') ?? '', type, path);
    assert.match(await (await get('/docs/errors')).text(), /<h1>Errors/);
    assert.equal((await get('/a/token')).status, 404);
    assert.equal((await get('/sessions', {})).status, 401);
    assert.equal((await get('/sessions', BROWSER, 'POST')).status, 401);
    assert.equal(
      (await (await get('/', { accept: 'application/json' })).text()).includes('"name":"tempoclaw"'),
      true,
    );
  });

  it('have files that are kept for ever, compressed for whoever takes that, and no others', async () => {
    const { headers, text } = await (async () => {
      const answer = await get('/assets/index-one.js', { 'accept-encoding': 'gzip' });
      return { headers: answer.headers, text: await answer.text() };
    })();
    assert.equal(text, SCRIPT);
    assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal(headers.get('content-encoding'), 'gzip');
    assert.match(headers.get('content-type') ?? '', /^text\/javascript/);
    const plain = await rawAsk(`${url}/assets/index-one.js`, 'GET', { 'accept-encoding': 'identity' });
    assert.equal(plain.text, SCRIPT);
    for (const name of [
      '..%2findex.html',
      '%2e%2e/index.html',
      '../index.html',
      '..%5cindex.html',
      'index-two.js',
      '__proto__',
    ])
      assert.ok([401, 404].includes((await rawAsk(`${url}/assets/${name}`, 'GET', {})).status), name);
  });

  it('are new after a build', async () => {
    await build('two', 2_000);
    assert.match(await (await get('/')).text(), /<title>two/);
    assert.equal((await get('/assets/index-two.js')).status, 200);
  });
});
