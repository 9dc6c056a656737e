/**
 * IN-7 how fast the console is, on this machine as busy as it is. What pages show is asserted; the figures are printed,
 * beside what a page may take: a second to the first paint, 300 ms until an approval appears, and no task of 200 ms.
 */
import assert from 'node:assert/strict';
import { loadavg } from 'node:os';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { type Stack, startStack } from '#test/support/stack.ts';
import { findChromium, sees, startBrowser } from './browser.ts';
import { buildFiles, logIn, openConsole } from './console-page.ts';

const chromium = findChromium();
const skip =
  chromium === undefined && process.env['CI'] !== 'true' ? 'no Chromium is installed on this machine' : false;

const LOADS = 5;
const APPROVALS = 10;
const EVENTS_PER_SECOND = 200;
const BATCH = 10;
const SECONDS = 10;
const STEPS = 10_000;

/** Notes tasks that block the page for 50 ms or more, and for how long inputs wait for their frame. */
const WATCH = `
  window.longTasks = [];
  window.inputs = [];
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
  addEventListener('keydown', ({ timeStamp }) => requestAnimationFrame(() => inputs.push(performance.now() - timeStamp)), true);
  0`;

describe('IN-7 the speed of the console', { skip, timeout: 600_000 }, () => {
  let stack: Stack;
  let browser: Browser;
  before(async () => {
    assert.ok(chromium);
    await buildFiles();
    stack = await startStack({ console: { enabled: true } });
    browser = await startBrowser(chromium);
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
  });

  async function open(path: string): Promise<Page> {
    const { page } = await openConsole(browser, `${stack.url}/${path}`);
    await logIn(page, stack.key);
    return page;
  }
  const report = (t: TestContext, what: string, times: readonly number[]): void => {
    const sorted = times.toSorted((a, b) => a - b).map((ms) => Math.round(ms));
    const middle = sorted[Math.floor(sorted.length / 2)] ?? 0;
    t.diagnostic(
      `${what}: ${middle} ms in the middle, ${sorted.at(-1) ?? 0} ms at most, of ${sorted.length} (load ${loadavg()[0]?.toFixed(1)})`,
    );
  };
  const ofPage = (page: Page, name: 'longTasks' | 'inputs') => page.evaluate<number[]>(`window.${name}`);

  it('paints, in a browser that has nothing of it', async (t) => {
    const paint =
      "new Promise((done) => new PerformanceObserver((list) => { for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') done(startTime); }).observe({ type: 'paint', buffered: true }))";
    const paints: number[] = [];
    const lists: number[] = [];
    for (let n = 0; n < LOADS; n += 1) {
      const { page, context } = await openConsole(browser, `${stack.url}/sessions`);
      paints.push(await page.evaluate<number>(paint));
      await logIn(page, stack.key);
      await page.reload();
      await page.getByRole('heading', { name: 'Sessions' }).waitFor();
      lists.push(await page.evaluate<number>('performance.now()'));
      await context.close();
    }
    report(t, 'first paint', paints);
    report(t, 'the page of somebody who is logged in', lists);
    assert.equal(paints.length, LOADS);
  });

  it('shows an approval after it was asked', async (t) => {
    const page = await open('inbox');
    await sees(page, /0 waiting/);
    await page.evaluate(
      "window.seen = {}; new MutationObserver(() => { for (const { innerText } of document.querySelectorAll('[role=listitem]')) { const [name] = /speed-\\d+/.exec(innerText) ?? []; if (name) seen[name] ??= Date.now(); } }).observe(document.body, { childList: true, subtree: true, characterData: true })",
    );
    const waits: number[] = [];
    for (let n = 0; n < APPROVALS; n += 1) {
      const name = `speed-${n}`;
      await stack.worker.say(name, `poke {"note":"${name}"}`);
      const id = await stack.worker.approvalOf(name);
      await sees(page, new RegExp(name));
      const { body } = await stack.ask('GET', `/v1/approvals/${id}`);
      const at = await page.evaluate<number>(`window.seen['${name}']`);
      waits.push(at - Date.parse(body.created_at));
      await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision: 'reject' } });
      await sees(page, /0 waiting/);
    }
    report(t, 'from the row to the inbox', waits);
    assert.ok(waits.every((ms) => Number.isFinite(ms)));
  });

  it(`answers inputs beside ${EVENTS_PER_SECOND} events a second`, async (t) => {
    await stack.worker.ended((await stack.worker.say('busy', 'Hello.')).turn_id);
    const page = await open('sessions/busy');
    await sees(page, /Hello\./);
    await page.evaluate(WATCH);
    const { rows } = await stack.pool.query(
      "select event_seq::int as last from sessions where tenant_id = $1 and key = 'busy'",
      [stack.tenant],
    );
    let last: number = rows[0].last;
    const words = 'a message that somebody writes while much happens ';
    const typing = page.getByLabel('Message').pressSequentially(words.repeat(2), { delay: 60 });
    const began = performance.now();
    for (let sent = 0; sent < EVENTS_PER_SECOND * SECONDS; sent += BATCH) {
      await stack.pool.query(
        `with one as (update sessions set event_seq = $2::int + $3::int where tenant_id = $1 and key = 'busy')
         insert into events (tenant_id, session_key, id, type, data)
         select $1, 'busy', n, case when n % 4 = 0 then 'tool.started' when n % 4 = 1 then 'tool.completed' else 'tool.output' end,
           jsonb_build_object('call_id', 'call-' || (n / 4), 'summary', 'exec: step ' || (n / 4), 'ok', true, 'text', 'line ' || n || E'\\n')
         from generate_series($2::int + 1, $2::int + $3::int) n`,
        [stack.tenant, last, BATCH],
      );
      last += BATCH;
      stack.deps.notifier.notify(stack.tenant, 'busy', true);
      await sleep(Math.max(0, began + ((sent + BATCH) / EVENTS_PER_SECOND) * 1_000 - performance.now()));
    }
    const seconds = (performance.now() - began) / 1_000;
    await typing;
    await sees(page, new RegExp(`exec: step ${Math.floor(last / 4) - 1}`));
    assert.equal(await page.getByLabel('Message').inputValue(), words.repeat(2));
    t.diagnostic(`${Math.round((EVENTS_PER_SECOND * SECONDS) / seconds)} events a second were written`);
    report(t, 'from a key to its frame', await ofPage(page, 'inputs'));
    report(t, 'tasks of 50 ms or more', await ofPage(page, 'longTasks'));
  });

  it(`scrolls ${STEPS} steps`, async (t) => {
    const { turn_id: turn } = await stack.worker.say('long', 'Hello.');
    await stack.worker.ended(turn);
    await stack.pool.query(
      `insert into messages (tenant_id, id, session_key, turn_id, step, role, text, model, usage, position, created_at)
       select $1, 'many-' || n, 'long', $2, n, 'assistant', 'Answer ' || n, 'rehearsal/follow', '{}', 10 + n, now() + n * interval '1 second'
       from generate_series(2, $3) n`,
      [stack.tenant, turn, STEPS],
    );
    const page = await open(`runs/${turn}?step=${STEPS}`);
    await sees(page, new RegExp(`Answer ${STEPS}`));
    await page.evaluate(WATCH);
    const frames: number[] = await page.evaluate(`(async () => {
      const list = document.querySelector('.timeline .virtual-list');
      const frame = () => new Promise(requestAnimationFrame);
      const frames = [];
      for (let at = 0; at <= 100; at += 1) {
        const began = performance.now();
        list.scrollTop = (list.scrollHeight * (at % 2 ? at : 100 - at)) / 100;
        await frame();
        await frame();
        frames.push(performance.now() - began);
      }
      list.scrollTop = 0;
      return frames;
    })()`);
    await sees(page, /Answer 2\b/);
    assert.ok((await page.getByRole('listitem').count()) < 100);
    report(t, 'a jump of the list to its second frame', frames);
    report(t, 'tasks of 50 ms or more', await ofPage(page, 'longTasks'));
  });
});
