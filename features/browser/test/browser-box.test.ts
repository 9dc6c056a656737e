/** SH-3, R5: a browser runs in its agent's box, with no way out but the proxy. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile, readdir, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { type Boxing, browserBox } from '../activities/browser-box.ts';
import { bundledChromium, profilesFolder } from '../activities/chromium.ts';
import { ownIdentity, createBubblewrap } from '@tempoclaw/sandbox';
import { commandFolders } from '#config';
import { type Sandbox, type SandboxSettings, sandboxOf } from '#domain/sandbox.ts';
import { BROWSER_DIR, browserBench, startSite } from '#test/support/browser-bench.ts';
import { boxesAt, findEngine, testBoxes } from '#test/support/container-engine.ts';
import { eventually } from '#test/support/processes.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

const NO_ENGINE = 'unix:///nonesuch/docker.sock';
const found = await findEngine();
const bubblewrap = createBubblewrap(commandFolders());
const bubbles = await bubblewrap.works();
assert.ok(bubbles || process.env['CI'] !== 'true', 'bubblewrap must work where CI runs');
after(async () => ('engine' in found ? found.engine.stop() : undefined));

const PLACES: readonly {
  readonly name: string;
  readonly skip: string | false;
  readonly mode: SandboxSettings['mode'];
  readonly note: RegExp | undefined;
  boxing(t: TestContext): Boxing;
}[] = [
  {
    name: 'a container',
    skip: 'skip' in found ? found.skip : false,
    mode: 'required',
    note: undefined,
    boxing: (t) => ({
      boxes: testBoxes(t, 'engine' in found ? found.engine.address : NO_ENGINE),
      bubblewrap: createBubblewrap([]),
    }),
  },
  {
    name: 'bubblewrap',
    skip: bubbles ? false : 'bubblewrap is not here, or may not make namespaces',
    mode: 'preferred',
    note: /\[The browser runs in bubblewrap instead of a container: no engine answers/,
    boxing: () => ({ boxes: boxesAt(NO_ENGINE), bubblewrap }),
  },
];

function sandbox(mode: SandboxSettings['mode']): { readonly sandbox: Sandbox } {
  const input = sandboxOf({}, mode);
  assert.ok(input);
  return { sandbox: input };
}

const OUR_PROFILES = new RegExp(`${profilesFolder(BROWSER_DIR)}/[^/]*${ownIdentity()}`);

/** Chromium's own processes with such a profile. */
async function chromiums(profile: string | RegExp = OUR_PROFILES): Promise<readonly string[]> {
  const ours: string[] = [];
  for (const pid of await readdir('/proc')) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const [program = ''] = line.split('\0');
    if (program.startsWith(BROWSER_DIR) && line.search(profile) >= 0) ours.push(pid);
  }
  return ours;
}

describe('SH-3 a browser in a box', () => {
  for (const { name, skip, mode, note, boxing } of PLACES)
    it(`in ${name}: pages come by the proxy alone, files by the workspace, and it ends with its session`, {
      skip,
    }, async (t) => {
      const inner = await startSite(t, { '/': 'secret' });
      const site = await startSite(
        t,
        { '/': '<title>Open</title><a href="/file" download>Get</a>' },
        (request, reply) => {
          if (request.url !== '/file') return false;
          reply.writeHead(200, { 'content-disposition': 'attachment; filename="a.txt"' }).end('the report');
          return true;
        },
      );
      const browser = await browserBench(t, [site.host], { boxing: boxing(t) });
      const ask = (args: Readonly<Record<string, unknown>>) => browser.ask(args, sandbox(mode));
      const opened = await ask({ action: 'navigate', url: site.url });
      assert.match(opened, /\nOpened\./);
      assert.equal(note?.test(opened) ?? false, note !== undefined, opened);
      assert.match(await ask({ action: 'evaluate', script: 'document.title' }), /"Open"/);
      assert.match(await ask({ action: 'navigate', url: inner.url }), /^PermissionDenied/);
      assert.deepEqual(inner.requests, []);
      assert.ok(browser.rows.some(({ host, status }) => host === site.host && status === 200));

      const pids = await chromiums();
      assert.ok(pids.length > 0);
      for (const pid of pids) {
        assert.notEqual(await readlink(`/proc/${pid}/ns/net`), await readlink('/proc/self/ns/net'));
        const devices = (await readFile(`/proc/${pid}/net/dev`, 'utf8')).split('\n').slice(2).filter(Boolean);
        assert.deepEqual(
          devices.map((line) => line.split(':')[0]?.trim()),
          ['lo'],
        );
        // Our files are not visible from it.
        await assert.rejects(readFile(`/proc/${pid}/root${process.cwd()}/package.json`));
      }

      await ask({ action: 'navigate', url: site.url });
      let message = await ask({ action: 'click', text: 'Get' });
      if (!message.includes('Downloaded')) message = await ask({ action: 'wait', seconds: 2 });
      const path = /Downloaded: (\S+)/.exec(message)?.[1] ?? message;
      assert.equal(await readFile(join(browser.bench.workspace, path), 'utf8'), 'the report');
      assert.match(await ask({ action: 'screenshot' }), /Screenshot saved/);
      assert.match(await ask({ action: 'stop' }), /has ended/);
      assert.ok(await eventually(async () => (await chromiums()).length === 0), 'its processes end');
    });

  it('a container whose worker is killed ends by itself', {
    skip: 'skip' in found ? found.skip : false,
  }, async (t) => {
    const boxes = testBoxes(t, 'engine' in found ? found.engine.address : NO_ENGINE);
    const call = {
      tenant: 'a',
      agent: 'b',
      user: null,
      sessionKey: 'c',
      callId: 'd',
      egress: {},
      ...sandbox('required'),
    };
    const place = await browserBox({ boxes, bubblewrap }, call, 1024 ** 3);
    assert.ok('box' in place && place.box);
    const profile = await temporaryFolder(t);
    const socket = join(profile, 'proxy');
    await writeFile(socket, '');
    const chromium = await bundledChromium({ dir: BROWSER_DIR });
    const line = await place.box.command({ chromium, profile, temporary: profile, socket });
    const flags = ['--headless', '--no-sandbox', '--remote-debugging-pipe', `--user-data-dir=${profile}`];
    const [program = '', ...args] = [...line, ...flags];
    const standIn = spawn(program, args, { stdio: ['pipe', 'ignore', 'inherit'] });
    assert.ok(await eventually(async () => (await chromiums(profile)).length > 0), 'it runs');
    standIn.kill('SIGKILL');
    assert.ok(await eventually(async () => (await chromiums(profile)).length === 0), 'it has ended');
    const isGone = async (): Promise<boolean> => {
      const all = await boxes.engine.ask((docker) => docker.listContainers({ all: true }));
      return !all.some(({ Mounts }) => Mounts.some(({ Source }) => Source === profile));
    };
    assert.ok(await eventually(isGone), 'the engine has removed it');
  });

  it('where no box can be had, required refuses in words, and preferred says where it is', async (t) => {
    const site = await startSite(t, { '/': '<title>Open</title>' });
    const { ask } = await browserBench(t, [site.host]);
    const go = { action: 'navigate', url: site.url };
    assert.match(
      await ask(go, sandbox('required')),
      /^SandboxUnavailable: no engine answers .*; the browser was not started/,
    );
    assert.match(
      await ask(go, sandbox('preferred')),
      /\[The browser runs on the host, not in a sandbox: no engine answers/,
    );
  });
});
