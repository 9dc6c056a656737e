/**
 * The package `@tempoclaw/client` as npm packs it, in Node and in Chromium, with a whole TempoClaw whose API is killed
 * in the middle of event streams.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { build } from 'vite';
import type { createClient } from '@tempoclaw/client';
import { createStand, type Stand } from '#test/support/faults.ts';
import { startSite, type WebSite } from '#test/support/web-site.ts';
import { findChromium, openPage, startBrowser } from '#test/ui/browser.ts';

const run = promisify(execFile);
const KILLS = 4;
/** Takes half a minute, so that the API is killed while it goes on. */
const TEXT = Array.from({ length: 30 }, (_, n) => `Step ${n}.\nexec {"command":"sleep 0.5; echo ran-${n}."}`)
  .concat('The end.')
  .join('\nthen\n');

type Event = { readonly id: number; readonly type: string };

/** Says something in its own session, and resolves with all events until the turn has ended. It runs in pages too. */
async function follow(
  create: typeof createClient,
  options: { readonly url: string; readonly apiKey: string; readonly key: string; readonly text: string },
): Promise<{ readonly events: readonly Event[]; readonly cuts: number }> {
  const session = create(options).session(options.key);
  const events: Event[] = [];
  let cuts = 0;
  await session.send(options.text, { agent: 'main' });
  const onConnection = (cut: unknown): void => {
    if (cut !== undefined) cuts += 1;
  };
  for await (const { id, type } of session.events({ onConnection })) {
    events.push({ id, type });
    if (type === 'turn.completed') return { events, cuts };
  }
  throw new Error('the events have ended');
}

/** As a site loads it: a module that a page can import. */
async function bundle(folder: string): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    root: folder,
    build: {
      write: false,
      lib: { entry: join(folder, 'dist/client.js'), formats: ['es'], fileName: 'client' },
    },
  });
  const [first] = [built].flat();
  assert.ok(first && 'output' in first);
  return first.output[0].code;
}

describe('the package of the client', { timeout: 600_000 }, () => {
  const ends: (() => void)[] = [];
  let folder: string;
  let packed: string;
  let site: WebSite;
  let stand: Stand;
  before(async () => {
    // Below our packages, so that its one dependency is found.
    folder = await mkdtemp(join(tmpdir(), 'client-'));
    packed = join(folder, 'node_modules/@tempoclaw/client');
    await run(process.execPath, ['scripts/build-library.ts', 'client', packed]);
    await symlink(
      resolve('node_modules/eventsource-parser'),
      join(folder, 'node_modules/eventsource-parser'),
    );
    const script = await bundle(packed);
    site = await startSite({ after: (end) => void ends.push(end) }, ({ url }, reply) => {
      const isScript = url === '/client.js';
      reply.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      reply.end(isScript ? script : '<!doctype html><title>A site</title>');
    });
    stand = await createStand({ workers: 1, corsOrigins: [site.url] });
  });
  after(async () => {
    await stand?.close();
    for (const end of ends) end();
    await rm(folder, { recursive: true, force: true });
  });

  it('is right for npm, Node, bundlers and TypeScript', async () => {
    const { messages, pkg } = await publint({ pkgDir: packed, strict: true });
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg)),
      [],
    );
    await run('npm', ['pack', '--pack-destination', folder], { cwd: packed });
    const attw = ['--profile', 'esm-only', join(folder, 'tempoclaw-client-0.1.0.tgz')];
    await run(process.execPath, ['node_modules/@arethetypeswrong/cli/dist/index.js', ...attw]);
  });

  it('has types that a strict program of others compiles with', async () => {
    await mkdir(join(folder, 'program'));
    const readme = await readFile('packages/client/README.md', 'utf8');
    const [, example = ''] = /^```ts\n(.*?)^```$/ms.exec(readme) ?? [];
    const wrong = `// @ts-expect-error: there is no such operation\nvoid client.request('GET /v1/nothing');\n`;
    await writeFile(join(folder, 'program/main.ts'), example + wrong);
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    const options = ['--ignoreConfig', '--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022'];
    const types = ['--types', '', '--lib', 'es2024,dom,dom.iterable'];
    await run(process.execPath, [
      'node_modules/typescript/bin/tsc',
      ...options,
      ...types,
      join(folder, 'program/main.ts'),
    ]);
  });

  it('follows events over kills of the API without a gap and without a duplicate, in Node and in Chromium', async (t) => {
    const [{ key: apiKey }] = stand.tenants;
    const { createClient: create } = (await import(pathToFileURL(join(packed, 'dist/client.js')).href)) as {
      readonly createClient: typeof createClient;
    };
    const options = { url: stand.apiUrl, apiKey, text: TEXT };
    const followed = [follow(create, { ...options, key: 'node' })];
    const chromium = findChromium();
    assert.ok(chromium ?? process.env['CI'] !== 'true', 'no Chromium is installed');
    if (chromium !== undefined) {
      const browser = await startBrowser(chromium);
      t.after(() => browser.close());
      const page = await openPage(browser, { width: 800, height: 600 });
      await page.goto(site.url);
      const call = `import('/client.js').then(({ createClient }) => (${follow.toString()})(createClient, ${JSON.stringify({ ...options, key: 'page' })}))`;
      followed.push(page.evaluate(call));
    }
    const both = Promise.all(followed);
    for (let n = 0; n < KILLS; n += 1) {
      await Promise.race([both, new Promise((done) => setTimeout(done, 2_500))]);
      await stand.api.kill();
      await stand.api.start();
    }
    for (const { events, cuts } of await both) {
      assert.deepEqual(
        events.map(({ id }) => id),
        events.map((_, n) => n + 1),
      );
      assert.equal(events.filter(({ type }) => type === 'tool.completed').length, 30);
      assert.ok(cuts >= 1, 'no kill has hit the stream');
    }
  });

  it('sends a message once when the API is killed while it is sent', async () => {
    const [{ key: apiKey }] = stand.tenants;
    const { createClient: create } = (await import(pathToFileURL(join(packed, 'dist/client.js')).href)) as {
      readonly createClient: typeof createClient;
    };
    const client = create({ url: stand.apiUrl, apiKey, patienceMs: 60_000 });
    await client.request('GET /v1/me');
    const session = client.session('once');
    const sent = Array.from({ length: 12 }, (_, n) => session.send(`message ${n}`, { mode: 'queue' }));
    await stand.api.kill();
    await stand.api.start();
    const turns = await Promise.all(sent);
    assert.equal(new Set(turns.map(({ turn_id }) => turn_id)).size, 12);
    await stand.until('all turns have ended', async () => {
      const { data } = await client.request('GET /v1/sessions/{key}/messages', {
        params: { key: 'once' },
        query: { limit: 100 },
      });
      const texts = data.filter(({ role }) => role === 'user').map(({ text }) => text);
      if (data.length < 24) return undefined;
      assert.equal(texts.length, 12);
      assert.equal(new Set(texts).size, 12);
      return true;
    });
  });

  it('says what to do about a wrong key, and runs the example', async () => {
    const [{ key }] = stand.tenants;
    const example = (apiKey: string) =>
      run(
        process.execPath,
        ['packages/client/examples/talk.ts', 'example', 'Step 1.\nexec {"command":"echo ran"}'],
        {
          env: { ...process.env, TEMPOCLAW_URL: stand.apiUrl, TEMPOCLAW_API_KEY: apiKey },
        },
      );
    assert.match((await example(key)).stdout, /Step 1\./);
    await assert.rejects(example('tc_wrong'), { code: 1, stderr: /^Unauthorized: .+\nSend `Authorization/ });
  });
});
