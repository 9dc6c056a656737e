/** IN-11: the chat of docs/ui-stream.md, bundled as a site would and used by a person in a browser. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { build, type Plugin } from 'vite';
import { type Stack, startStack } from '#test/support/stack.ts';
import { startSite, type WebSite } from '#test/support/web-site.ts';
import { findChromium, openPage, sees, startBrowser } from './browser.ts';

const chromium = findChromium();
const skip =
  chromium === undefined && process.env['CI'] !== 'true' ? 'no Chromium is installed on this machine' : false;

/** Renders the chat that the address names. */
const ENTRY = `
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { Chat } from './chat.tsx';

const props = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
createRoot(document.getElementById('root')).render(createElement(Chat, props));
`;

/** One script of the code in the docs, and of what renders it. */
async function bundleChat(): Promise<string> {
  const page = await readFile(join(import.meta.dirname, '../../docs/ui-stream.md'), 'utf8');
  const chat = /```tsx\n([\s\S]+?)```/.exec(page)?.[1] ?? '';
  const files = new Map([
    [join(import.meta.dirname, 'main.js'), ENTRY],
    [join(import.meta.dirname, 'chat.tsx'), chat],
  ]);
  const fromMemory: Plugin = {
    name: 'from-memory',
    enforce: 'pre',
    resolveId: (id) => [...files.keys()].find((path) => path.endsWith(id.replace('./', '/'))),
    load: (id) => files.get(id),
  };
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    root: import.meta.dirname,
    plugins: [fromMemory],
    oxc: { jsx: { runtime: 'automatic', importSource: 'react' } },
    build: { write: false, minify: false, rollupOptions: { input: join(import.meta.dirname, 'main.js') } },
  });
  assert.ok('output' in built);
  return built.output[0].code;
}

describe('IN-11 useChat in a browser', { skip }, () => {
  let stack: Stack;
  let browser: Browser;
  let site: WebSite;
  let key: string;
  const ends: (() => void)[] = [];
  before(async () => {
    assert.ok(chromium);
    const script = await bundleChat();
    site = await startSite({ after: (end) => void ends.push(end) }, ({ url }, reply) => {
      const isScript = url === '/chat.js';
      reply.setHeader('content-type', `${isScript ? 'text/javascript' : 'text/html'}; charset=utf-8`);
      reply.end(isScript ? script : '<div id="root"></div><script type="module" src="/chat.js"></script>');
    });
    stack = await startStack({
      settings: { corsOrigins: [site.url] },
      agents: [{ key: 'slow', model: 'rehearsal/stream' }],
    });
    key = await stack.makeKey(['read', 'run', 'approve'], { user: 'ann' });
    browser = await startBrowser(chromium);
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
    for (const end of ends) end();
  });

  async function open(id: string, agent = 'main'): Promise<{ page: Page; say(text: string): Promise<void> }> {
    const page = await openPage(browser, { width: 800, height: 600 });
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(
      `${site.url}/#${new URLSearchParams({ id, api: `${stack.url}/v1/ui/${agent}`, token: key }).toString()}`,
    );
    await page.getByRole('textbox').waitFor();
    return {
      page,
      async say(text) {
        assert.deepEqual(errors, []);
        await page.getByRole('textbox').fill(text);
        await page.getByRole('button', { name: 'Send' }).click();
      },
    };
  }
  const turnsOf = async (chat: string): Promise<{ status: string }[]> =>
    (await stack.ask('GET', `/v1/sessions/ui-${chat}/turns`)).body.data;

  it('shows an answer with the calls of its agent', async () => {
    const { page, say } = await open('calls');
    await say('peek {"note":"seen"}');
    await sees(page, /peek: output-available/);
    await say('Walrus.');
    assert.equal((await sees(page, /Walrus\.[\s\S]*Walrus\./)).match(/Walrus\./g)?.length, 2);
    assert.equal((await turnsOf('calls')).length, 2);
  });

  it('keeps what the person types while an answer is written', async () => {
    const { page, say } = await open('typing', 'slow');
    await say(`${'Bit by bit. '.repeat(6).trim()} ms=120`);
    await sees(page, /ms=120[\s\S]*Bit by bit/);
    await page.getByRole('textbox').fill('Walrus.');
    await page.getByRole('button', { name: 'Send' }).click();
    assert.equal((await sees(page, /Walrus\.[\s\S]*Walrus\./)).match(/Walrus\./g)?.length, 2);
  });

  it('asks the person for approvals, and the same answer goes on', async () => {
    const { page, say } = await open('approve');
    await say('poke {"note":"chat"}');
    await page.getByRole('button', { name: 'Allow poke' }).click();
    await sees(page, /poke: output-available/);
    assert.equal(stack.worker.probes.effects.filter(({ note }) => note === 'chat').length, 1);
    await stack.worker.until('the turn to end', async () =>
      (await turnsOf('approve'))[0]?.status === 'completed' ? true : undefined,
    );
    assert.equal((await turnsOf('approve')).length, 1);
  });

  it('goes on with the answer that is being written when the page is loaded anew', async () => {
    const { page, say } = await open('reload', 'slow');
    const words = 'One piece after the other. '.repeat(8).trim();
    await say(`${words} ms=120`);
    // Behind the message as it was said: the answer has begun.
    await sees(page, /ms=120[\s\S]*One piece after/);
    await page.reload();
    await sees(page, /ms=120/);
    const turns = await turnsOf('reload');
    assert.deepEqual(
      turns.map(({ status }) => status),
      ['completed'],
    );
  });
});
