/** The tool `browser` uses a real Chromium on sites of this machine. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { findChromium } from '../activities/chromium.ts';
import { commandFolders } from '#config';
import { readImage } from '#domain/model/image.ts';
import { BROWSER_DIR, browserBench, refOf, startSite } from '#test/support/browser-bench.ts';
import { eventually } from '#test/support/processes.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

const FORM = `<title>A form</title><h1>Order</h1>
<form action="/done"><label>Name <input name="name"></label>
<label>Size <select name="size"><option value="s">Small</option><option value="l">Large</option></select></label>
<label><input type="checkbox" name="gift"> Gift</label><button>Send</button></form>
<button onclick="document.title = prompt('Who?') ?? 'nobody'; console.log('asked', document.title)">Ask</button>
<a href="/popup" target="_blank">Other</a>`;

/** The address of a Chromium that somebody else has started. */
async function runningChromium(t: TestContext): Promise<string> {
  const { path, env } = await findChromium({ folders: commandFolders(), dir: BROWSER_DIR });
  const profile = await temporaryFolder(t);
  const flags = ['--headless', '--no-sandbox', '--remote-debugging-port=0', `--user-data-dir=${profile}`];
  const child = spawn(path, flags, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  let message = '';
  for await (const chunk of child.stderr) {
    message += String(chunk);
    const address = /listening on (ws:\S+)/.exec(message)?.[1];
    if (address) return address;
  }
  throw new Error(`Chromium ended: ${message}`);
}

describe('TL browser', () => {
  it('IN-10 is new for another person of the session, who is nowhere logged in', async (t) => {
    const site = await startSite(t, {}, ({ headers, url }, reply) => {
      const [, who = 'nobody'] = /who=(\w+)/.exec(headers.cookie ?? '') ?? [];
      const cookie = url === '/login' ? { 'set-cookie': 'who=ann' } : {};
      reply.writeHead(200, { 'content-type': 'text/html', ...cookie }).end(`<h1>You are ${who}</h1>`);
      return true;
    });
    const { ask } = await browserBench(t, [site.host]);
    const goes = async (user: string, path: string): Promise<string> => {
      await ask({ action: 'navigate', url: `${site.url}${path}` }, { user });
      return /You are \w+/.exec(await ask({ action: 'snapshot' }, { user }))?.[0] ?? '';
    };
    await goes('ann', '/login');
    assert.equal(await goes('ann', '/'), 'You are ann');
    assert.match(await ask({ action: 'snapshot' }, { user: 'bob' }), /No browser is open/);
    assert.equal(await goes('bob', '/'), 'You are nobody');
    assert.equal(await goes('ann', '/'), 'You are nobody');
  });

  it('fills a form by the refs of a snapshot and says where that led', async (t) => {
    const site = await startSite(t, { '/': FORM, '/done': '<h1>Thanks</h1>' });
    const { ask, rows } = await browserBench(t, [site.host]);
    assert.match(await ask({ action: 'status' }), /No browser is open/);
    assert.match(await ask({ action: 'click', ref: 'e1' }), /^NotFound: No browser is open/);
    assert.match(
      await ask({ action: 'navigate', url: `${site.url}/` }),
      /^Page: http:.*\(tab t1 of 1\)\nOpened/,
    );
    const tree = await ask({ action: 'snapshot' });
    assert.match(
      tree,
      /<<<EXTERNAL_UNTRUSTED_CONTENT id=\S+ source=\S+>>>[\s\S]*Title: A form[\s\S]*heading "Order"/,
    );
    await ask({ action: 'type', ref: refOf(tree, /textbox "Name"/), text: 'Ann' });
    assert.match(
      await ask({ action: 'select', ref: refOf(tree, /combobox/), values: ['Large'] }),
      /Selected 1 of 1/,
    );
    await ask({ action: 'click', ref: refOf(tree, /checkbox/) });
    await ask({ action: 'hover', ref: refOf(tree, /button "Send"/) });
    const sent = await ask({ action: 'press', ref: refOf(tree, /textbox "Name"/), key: 'Enter' });
    assert.match(sent, /^Page: \S+\/done\?name=Ann&size=l&gift=on /);
    assert.match(await ask({ action: 'wait', text: 'Thanks' }), /The text is there/);
    assert.match(await ask({ action: 'click', ref: 'e999' }), /^NotFound: there is no e999/);
    assert.match(await ask({ action: 'stop' }), /has ended/);
    assert.ok(
      rows.some(({ purpose, host, status }) => purpose === 'browser' && host === site.host && status === 200),
    );
  });

  it('understands what another system calls act, and refuses what is no action there', async (t) => {
    const site = await startSite(t, { '/': FORM });
    const { ask } = await browserBench(t, [site.host]);
    await ask({ action: 'open', targetUrl: site.url, timeoutMs: 9000 });
    const tree = await ask({ action: 'snapshot', maxChars: 5000, interactive: true, compact: true });
    await ask({ action: 'act', request: { kind: 'type', ref: refOf(tree, /textbox/), text: 'Bea' } });
    const value = { kind: 'evaluate', fn: '(box) => box.value', ref: refOf(tree, /textbox/) };
    assert.match(await ask({ action: 'act', request: value }), /The script gave:[\s\S]*"Bea"/);
    assert.match(await ask({ action: 'act', request: { kind: 'explode' } }), /^InvalidArgs: request: action/);
    assert.match(await ask({ action: 'act' }), /^InvalidArgs: request: /);
  });

  it('answers dialogs as it is told, keeps the console, and makes popups tabs', async (t) => {
    const site = await startSite(t, { '/': FORM, '/popup': '<h1>Over here</h1>' });
    const { ask } = await browserBench(t, [site.host]);
    await ask({ action: 'navigate', url: site.url });
    const tree = await ask({ action: 'snapshot' });
    assert.match(await ask({ action: 'dialog', accept: true }), /^NotFound: tab t1 shows no dialog/);
    const requested = await ask({ action: 'click', ref: refOf(tree, /button "Ask"/) });
    assert.match(requested, /A dialog is open[^]*<<<EXTERNAL[^]*tab t1 shows a dialog \(prompt\): "Who\?"/);
    assert.match(await ask({ action: 'dialog' }), /^InvalidArgs: accept: is required/);
    assert.match(await ask({ action: 'dialog', promptText: 'Ann' }), /Accepted/);
    assert.match(await ask({ action: 'console' }), /log: asked Ann/);
    await ask({ action: 'click', ref: refOf(tree, /button "Ask"/) });
    assert.match(
      await ask({ action: 'snapshot' }),
      /the dialog \(prompt\) of tab t1 was dismissed without an answer[^]*Title: nobody/,
    );
    let seen = await ask({ action: 'click', text: 'Other' });
    // What a click triggers may come after its answer.
    for (let looks = 0; looks < 50 && !seen.includes('t2 (current): http'); looks += 1)
      seen += (await ask({ action: 'wait', seconds: 0.2 })) + (await ask({ action: 'tabs' }));
    assert.match(seen, /tab t2 was opened/);
    assert.match(seen, /t1: http[\s\S]*t2 \(current\): http/);
    assert.match(await ask({ action: 'snapshot' }), /Over here/);
    assert.match(await ask({ action: 'snapshot', tab: 't1' }), /heading "Order"/);
    await ask({ action: 'close', tab: 't2' });
    assert.match(await ask({ action: 'snapshot', tab: 't2' }), /^NotFound: there is no tab t2/);
    for (let tab = 2; tab <= 8; tab += 1) await ask({ action: 'open', url: site.url });
    assert.match(await ask({ action: 'open', url: site.url }), /8 tabs are open, which is the most/);
  });

  it('brings downloads, screenshots and PDFs to the workspace, and gives files of it to pages', async (t) => {
    const site = await startSite(
      t,
      {
        '/': `<a href="/file" download>Get</a><input type="file" aria-label="Up" onchange="this.files[0].text().then((text) => document.title = text)">`,
      },
      (request, reply) => {
        if (request.url !== '/file') return false;
        reply
          .writeHead(200, { 'content-disposition': 'attachment; filename="../../evil report.txt"' })
          .end('the report');
        return true;
      },
    );
    const browser = await browserBench(t, [site.host]);
    const { ask, bench } = browser;
    const fileOf = async (message: string): Promise<Buffer> =>
      readFile(join(bench.workspace, /browser\/[\p{L}\d._-]+/u.exec(message)?.[0] ?? message));
    assert.match(await ask({ action: 'navigate', url: site.url }), /Opened/);
    const tree = await ask({ action: 'snapshot' });
    let text = await ask({ action: 'click', ref: refOf(tree, /link "Get"/) });
    if (!text.includes('Downloaded')) text = await ask({ action: 'wait', seconds: 2 });
    assert.equal((await fileOf(text)).toString(), 'the report');
    assert.equal(
      (await fileOf(await ask({ action: 'navigate', url: `${site.url}/file` }))).toString(),
      'the report',
    );
    await mkdir(bench.workspace, { recursive: true });
    await writeFile(join(bench.workspace, 'note.txt'), 'from the workspace');
    assert.match(
      await ask({ action: 'upload', ref: refOf(tree, /Up/), files: ['../etc/passwd'] }),
      /^(InvalidPath|PermissionDenied|FileNotFound)/,
    );
    await ask({ action: 'upload', ref: refOf(tree, /Up/), files: ['note.txt'] });
    assert.match(await ask({ action: 'evaluate', script: 'document.title' }), /"from the workspace"/);
    const shot = await browser.result({ action: 'screenshot', full_page: true });
    assert.ok(shot.ok);
    const png = await fileOf(shot.text);
    assert.equal(readImage(png)?.type, 'image/png');
    assert.deepEqual(shot.images, [png], 'models that see are shown it');
    await ask({ action: 'pdf', path: 'out/page.pdf' });
    assert.match((await readFile(join(bench.workspace, 'out/page.pdf'))).toString('latin1'), /^%PDF-/);
  });

  it('reaches nothing that the rules do not let through, whoever asks, and keeps rows of it (R5)', async (t) => {
    const inner = await startSite(t, { '/': 'secret' });
    const restless = `<script>setInterval(() => fetch('${inner.url}/', { mode: 'no-cors' }), 5)</script>`;
    const site = await startSite(t, { '/': '<h1>Start</h1>', '/restless': restless }, (request, reply) => {
      if (request.url !== '/away') return false;
      reply.writeHead(302, { location: `${inner.url}/` }).end();
      return true;
    });
    const { ask, rows } = await browserBench(t, [site.host]);
    const denied = async (url: string, words: RegExp): Promise<void> => {
      const message = await ask({ action: 'navigate', url });
      assert.match(message, /^PermissionDenied/);
      assert.match(message, words);
    };
    await denied('http://169.254.169.254/latest/', /clouds give out credentials/);
    await denied('https://169.254.169.254/', /clouds give out credentials/);
    await denied(inner.url, /this machine itself/);
    await denied(`${site.url}/away`, /this machine itself/);
    // What the previous page requests at the same moment is refused for another reason.
    await ask({ action: 'navigate', url: `${site.url}/restless` });
    await denied('http://inner.example/', /10\.0\.0\.7, which is an address of a private net/);
    for (const url of [
      'file:///etc/passwd',
      'chrome://version',
      'data:text/html,hi',
      'view-source:http://a.example/',
    ])
      await denied(url, /may not be opened/);
    await ask({ action: 'navigate', url: site.url });
    const script = `fetch('${inner.url}/', { mode: 'no-cors' }).then((reply) => reply.type + reply.status, String)`;
    assert.match(await ask({ action: 'evaluate', script }), /not reached: \S+ may not be asked/);
    await ask({
      action: 'evaluate',
      script: `new Promise((done) => { const s = new WebSocket('${inner.url.replace('http', 'ws')}'); s.onerror = s.onclose = done; })`,
    });
    await ask({
      action: 'evaluate',
      script: "window.open('file:///etc/passwd'); location.href = 'file:///etc/passwd'",
    });
    assert.doesNotMatch(await ask({ action: 'snapshot' }), /root:/);
    assert.deepEqual(inner.requests, []);
    const problems = rows.map(({ method, host, problem }) => `${method} ${host} ${problem}`);
    for (const row of [
      'GET 169.254.169.254 metadata',
      'CONNECT 169.254.169.254 metadata',
      `GET ${inner.host} loopback`,
      'GET inner.example private',
      `CONNECT ${inner.host} loopback`,
    ])
      assert.ok(problems.includes(row), `${row} in ${problems.join(', ')}`);
  });

  it('sends nothing round the proxy: neither WebRTC nor names', async (t) => {
    const received: string[] = [];
    const socket = createSocket('udp4', (_message, from) => received.push(from.address));
    await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
    t.after(() => socket.close());
    const site = await startSite(t, { '/': '<h1>Start</h1>' });
    const { ask } = await browserBench(t, [site.host]);
    await ask({ action: 'navigate', url: site.url });
    const script = `new Promise(async (done) => {
      const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${socket.address().port}' }] });
      const seen = [];
      peer.onicecandidate = ({ candidate }) => candidate ? seen.push(candidate.candidate) : done(seen);
      peer.createDataChannel('a');
      await peer.setLocalDescription(await peer.createOffer());
      setTimeout(() => done(seen), 3000);
    })`;
    assert.match(await ask({ action: 'evaluate', script }), /\[\]/);
    assert.deepEqual(received, []);
  });

  it('ends a script that does not end, with its tab', async (t) => {
    const site = await startSite(t, { '/': '<h1>Start</h1>' });
    const { ask } = await browserBench(t, [site.host]);
    await ask({ action: 'navigate', url: site.url });
    assert.match(
      await ask({ action: 'evaluate', script: 'for (;;);', timeout_ms: 500 }),
      /did not end within 0.5 s/,
    );
    assert.match(await ask({ action: 'navigate', url: site.url }), /Opened/);
  });

  it('loses a page that spins, or takes all memory, with its tab and no other', async (t) => {
    const pages: Readonly<Record<string, string>> = {
      '/loop': `<button onclick="for (;;);">Go</button>`,
      '/regex': `<button onclick="/^(a+)+$/.test('a'.repeat(60) + 'b')">Go</button>`,
      '/alerts': `<button onclick="for (;;) alert('again');">Go</button>`,
      '/memory': `<button onclick="for (const all = []; ; ) all.push(new Uint8Array(1e7).fill(7))">Go</button>`,
      '/leave': `<button onclick="onbeforeunload = onunload = onpagehide = () => { for (;;); }">Go</button>`,
      '/later': `<button onclick="setTimeout(() => { for (;;); }, 100)">Go</button>`,
      '/worker': `<button onclick="new Worker(URL.createObjectURL(new Blob(['for (;;);'])))">Go</button>`,
    };
    const site = await startSite(t, { ...pages, '/': '<input aria-label="Kept">' });
    const { ask } = await browserBench(t, [site.host], { memoryBytes: 1_500_000_000 });
    await ask({ action: 'navigate', url: site.url });
    await ask({ action: 'type', ref: refOf(await ask({ action: 'snapshot' }), /Kept/), text: 'still here' });
    for (const path of Object.keys(pages)) {
      const url = `${site.url}${path}`;
      const [tab] = /(?<=tab )t\d+/.exec(await ask({ action: 'open', url })) ?? [];
      await ask({ action: 'click', text: 'Go', timeout_ms: 2_000 });
      // Its tab is gone, or navigates elsewhere.
      const next = await ask({ action: 'navigate', url, tab, timeout_ms: 3_000 });
      assert.match(next, /Opened|NotFound: there is no tab|closed/, path);
      if (next.startsWith('Page:')) await ask({ action: 'close' });
      assert.match(await ask({ action: 'tabs' }), /t1 \(current\): http\S+\n<<<END/, path);
      assert.match(await ask({ action: 'snapshot' }), /still here/, path);
    }
  });

  it('loses a page that writes long lines without end, with its tab and no other', async (t) => {
    const flood = `<script>const line = 'x'.repeat(100_000); setTimeout(() => { for (;;) console.log(line); }, 100);</script>`;
    const site = await startSite(t, { '/': '<h1>Here</h1>', '/flood': flood });
    const { ask } = await browserBench(t, [site.host]);
    await ask({ action: 'navigate', url: site.url });
    await ask({ action: 'open', url: `${site.url}/flood` });
    assert.ok(await eventually(async () => !(await ask({ action: 'tabs', tab: 't1' })).includes('t2')));
    assert.match(await ask({ action: 'snapshot', tab: 't1' }), /heading "Here"/);
  });

  it('asks before a page is left that asks, as it was told', async (t) => {
    const site = await startSite(t, {
      '/': `<button onclick="onbeforeunload = (event) => event.preventDefault()">Go</button>`,
      '/next': '<h1>Next</h1>',
      '/alert': `<h1>There</h1><script>alert('hello')</script>`,
    });
    const { ask } = await browserBench(t, [site.host]);
    await ask({ action: 'navigate', url: site.url });
    await ask({ action: 'click', text: 'Go' });
    assert.match(await ask({ action: 'navigate', url: `${site.url}/next` }), /dialog \(beforeunload\)/);
    assert.match(await ask({ action: 'dialog', accept: false }), /^Page: http:\S+\/ .*\nDismissed/);
    await ask({ action: 'navigate', url: `${site.url}/next` });
    assert.match(await ask({ action: 'dialog', accept: true }), /^Page: \S+\/next .*\nAccepted/);
    assert.match(await ask({ action: 'navigate', url: `${site.url}/alert` }), /dialog \(alert\): "hello"/);
    assert.match(await ask({ action: 'dialog', accept: true }), /Accepted/);
    assert.match(await ask({ action: 'snapshot' }), /There/);
    assert.match(
      await ask({ action: 'evaluate', script: "confirm('Sure?')" }),
      /A dialog is open[^]*dialog \(confirm\): "Sure\?"/,
    );
  });

  it('ends a browser that nobody uses, and says where a lost one was', async (t) => {
    const site = await startSite(t, { '/': '<h1>Start</h1>' });
    const { ask, browsers } = await browserBench(t, [site.host], {
      idleMs: 200,
      lookMs: 50,
      lastPage: async () => 'http://was.example/page',
    });
    assert.match(
      await ask({ action: 'navigate', url: site.url }),
      /The browser is new: the one that this session had, on http:\/\/was\.example\/page/,
    );
    for (let message = ''; !message.includes('No browser is open'); ) {
      await new Promise((done) => setTimeout(done, 400));
      message = await ask({ action: 'status' });
    }
    assert.match(
      await ask({ action: 'snapshot' }),
      /^NotFound: No browser is open. The one that this session had, on http:\/\/was\.example\/page, has ended/,
    );
    assert.equal(await browsers.end('default', 'test'), false);
  });

  it('gives each session its own, and no more than may be', async (t) => {
    const site = await startSite(t, {
      '/': `<script>document.title = document.cookie || 'none'; document.cookie = 'a=b'</script>`,
    });
    const { ask } = await browserBench(t, [site.host], { maxBrowsers: 2 });
    const opened = await Promise.all(
      ['a', 'b'].map((sessionKey) => ask({ action: 'navigate', url: site.url }, { sessionKey })),
    );
    assert.ok(
      opened.every((message) => message.startsWith('Page: ')),
      opened.join('\n'),
    );
    assert.match(await ask({ action: 'evaluate', script: 'document.title' }, { sessionKey: 'b' }), /none/);
    assert.match(
      await ask({ action: 'navigate', url: site.url }, { sessionKey: 'c' }),
      /^RateLimited: 2 browsers are in use/,
    );
    assert.match(await ask({ action: 'stop' }, { sessionKey: 'a' }), /has ended/);
    assert.match(await ask({ action: 'navigate', url: site.url }, { sessionKey: 'c' }), /^Page: /);
  });

  it('ends one that takes too much memory', async (t) => {
    const site = await startSite(t, { '/': '<h1>Start</h1>' });
    const { ask } = await browserBench(t, [site.host], { memoryBytes: 1, lookMs: 1_000 });
    await ask({ action: 'navigate', url: site.url });
    assert.ok(await eventually(async () => /No browser is open/.test(await ask({ action: 'status' }))));
  });

  it('uses a browser that runs already, with a profile and the proxy of its own', async (t) => {
    const inner = await startSite(t, { '/': 'secret' });
    const site = await startSite(t, { '/': '<h1>Start</h1>' });
    const endpoint = await runningChromium(t);
    const { ask, rows } = await browserBench(t, [site.host], { endpoint });
    assert.match(await ask({ action: 'navigate', url: site.url }), /Opened/);
    assert.match(await ask({ action: 'snapshot' }), /heading "Start"/);
    assert.match(await ask({ action: 'navigate', url: inner.url }), /^PermissionDenied/);
    assert.deepEqual(inner.requests, []);
    assert.ok(rows.some(({ host, problem }) => host === inner.host && problem === 'loopback'));
    assert.match(await ask({ action: 'stop' }), /has ended/);
    const elsewhere = await browserBench(t, [], { endpoint: 'http://127.0.0.1:1' });
    assert.match(
      await elsewhere.ask({ action: 'start' }),
      /^ExecutionFailed: the browser could not be started: .*ECONNREFUSED/,
    );
  });

  it('stays closed to an agent that must stay in a sandbox', async (t) => {
    const { ask } = await browserBench(t, []);
    const sandbox = { mode: 'required' } as never;
    assert.match(
      await ask({ action: 'navigate', url: 'http://a.example/' }, { sandbox }),
      /^SandboxUnavailable/,
    );
  });
});
