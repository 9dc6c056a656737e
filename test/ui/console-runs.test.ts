/** IN-7 runs in the console: the timeline of a turn, what is known of each step, two runs compared, the work below a session. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { type Stack, startStack } from '#test/support/stack.ts';
import { findChromium, sees, startBrowser } from './browser.ts';
import { assertAccessible, buildFiles, type ConsolePage, logIn, openConsole } from './console-page.ts';

const chromium = findChromium();
const skip =
  chromium === undefined && process.env['CI'] !== 'true' ? 'no Chromium is installed on this machine' : false;
const MANY = 10_000;
const RETRIED = `
rules:
  - when: { user: Counted }
    reply: { text: 'Counted: 4.' }
  - when: { step: 0 }
    reply: { text: Asking., calls: [{ tool: poke, args: { note: '<img src=x onerror=alert(1)>' } }], error: { status: 429, message: Slow down., retry_after: 10ms, times: 1 } }
  - when: { step: 1 }
    reply: { calls: [{ tool: spawn, args: { action: run, task: 'Counted: 4.', label: count } }] }
  - reply: { text: 'The **end**.' }
`;

describe('IN-7 runs in the console', { skip }, () => {
  let stack: Stack;
  let browser: Browser;
  before(async () => {
    assert.ok(chromium);
    await buildFiles();
    stack = await startStack({
      console: { enabled: true },
      scripts: { retried: RETRIED },
      agents: [
        { key: 'patient', type: 'open', model: 'rehearsal/retried' },
        { key: 'refused', type: 'open', model: 'rehearsal/flaky' },
      ],
    });
    browser = await startBrowser(chromium);
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
  });

  async function open(
    path: string,
    key = stack.key,
    size?: { width: number; height: number },
  ): Promise<ConsolePage> {
    const opened = await openConsole(browser, `${stack.url}/${path}`, size);
    await logIn(opened.page, key);
    return opened;
  }
  async function run(session: string, text: string): Promise<string> {
    const { turn_id } = await stack.worker.say(session, text);
    await stack.worker.ended(turn_id);
    return turn_id;
  }
  const chosen = (page: Page): string | null => new URL(page.url()).searchParams.get('step');
  const row = (page: Page, name: RegExp) =>
    page.getByRole('list', { name: 'Steps of the run' }).getByRole('button', { name });

  it('shows a run live: a retry, an approval, a child, and each step that is chosen', async () => {
    const { body } = await stack.ask('POST', '/v1/sessions/live/messages', {
      body: { text: 'Go.', agent: 'patient' },
    });
    const approval = await stack.worker.approvalOf('live');
    const { page, complaints } = await open('sessions/live');
    await page.getByRole('link', { name: 'Run', exact: true }).click();
    await page.waitForURL(new RegExp(`/runs/${body.turn_id}`));
    await sees(page, /waiting approval/, /attempt [23]/, /waits for approval/);
    assert.equal(await page.locator('main img').count(), 0);
    await stack.ask('POST', `/v1/approvals/${approval}/decision`, { body: { decision: 'approve' } });
    await sees(page, /completed/, /The \*\*end\*\*\./, /subagent\s+count/);
    await row(page, /poke/).click();
    assert.equal(chosen(page), '1.0');
    await sees(page, /approved by/, /The rules then\s+ask/, /<img src=x/, /None in the last 30 days/);
    await assertAccessible(page);
    await page.keyboard.press('k');
    assert.equal(chosen(page), '1');
    await sees(page, /What the model read/, /answered, the ones before failed/, /Go\./);
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate('document.activeElement.getAttribute("aria-label")'), 'The chosen step');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await sees(page, /Gave to a subagent\s+count/);
    await page.getByRole('link', { name: 'run', exact: true }).click();
    await sees(page, /Counted: 4\./);
    assert.deepEqual(complaints, []);
  });

  it('DU-9 undoes a run: shows what can be reversed and what cannot, and reverses it in a run of its own', async () => {
    const turn = await run(
      'undone',
      'write_file {"path":"<b>.md","content":"A"}\nthen\ndatetime {}\nthen\nexec {"command":"true"}',
    );
    const { page, complaints } = await open(`runs/${turn}`);
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    const plan = page.getByRole('dialog', { name: 'Undo this run' });
    const calls = plan.getByRole('list', { name: 'What happens to each call' }).getByRole('listitem');
    await calls.nth(2).waitFor();
    const words = await calls.allInnerTexts();
    assert.match(words[0] ?? '', /^exec .*\s+cannot be reversed/s);
    assert.match(words[1] ?? '', /^datetime .*\s+changed nothing/s);
    assert.match(words[2] ?? '', /^write_file .*<b>\.md.*\s+can be reversed by restore_file/s);
    await assertAccessible(page);
    await plan.getByRole('button', { name: 'Reverse 1 call' }).click();
    await page.waitForURL((url) => /runs\/turn_/.test(url.href) && !url.href.includes(turn));
    await sees(page, /completed/, /restore_file/);
    await page.goto(`${stack.url}/runs/${turn}`);
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await calls.getByText('is reversed').waitFor();
    assert.ok(await plan.getByRole('button', { name: 'Reverse 0 calls' }).isDisabled());
    assert.deepEqual(complaints, []);
    await page.close();
  });

  it('shows which files a step and its calls have changed', async () => {
    const turn = await run(
      'writes',
      'write_file {"path":"notes.md","content":"One."}\nexec {"command":"sleep 5","background":true}\nthen\nexec {"command":"echo x >more.md"}\nthen\nEnd.',
    );
    const { page, complaints } = await open(`runs/${turn}?step=1`);
    await sees(page, /Files changed\s+notes\.md, others are not known/);
    await row(page, /write_file/).click();
    await sees(page, /Files changed\s+notes\.md\n/);
    await row(page, /sleep/).click();
    await sees(page, /Files changed\s+not known\n/);
    assert.deepEqual(complaints, []);
    const later = await open(`runs/${turn}?step=2`);
    await sees(later.page, /Files changed\s+more\.md\n/);
  });

  it('shows where a run has failed', async () => {
    const { body } = await stack.ask('POST', '/v1/sessions/failed/messages?wait=60', {
      body: { text: 'bad key', agent: 'refused' },
    });
    const { page, complaints } = await open(`runs/${body.turn_id}`);
    await sees(page, /ModelAuth|not accepted/, /1 failed/);
    await row(page, /failed/).click();
    await sees(page, /has no step 1 that is answered/);
    assert.deepEqual(complaints, []);
  });

  it('opens a step by its address, on a phone too', async () => {
    const turn = await run('cold', 'peek {"note":"first"}\nthen\npeek {"note":"second"}\nthen\nEnd.');
    const { page, complaints } = await open(`runs/${turn}?step=2.0`, stack.key, { width: 390, height: 800 });
    await sees(page, /peek: second/);
    assert.equal(await row(page, /first/).isVisible(), false);
    await assertAccessible(page);
    await page.getByRole('button', { name: '← All' }).click();
    await row(page, /first/).waitFor();
    assert.deepEqual(complaints, []);
  });

  it('compares two runs up to the first step that differs', async () => {
    const script = (note: string) => `peek {"note":"same"}\nthen\npeek {"note":"${note}"}\nthen\nEnd.`;
    const [one, two, three] = [
      await run('compared', script('a')),
      await run('compared', script('b')),
      await run('compared', script('a')),
    ];
    const { page, complaints } = await open(`runs/${one}`);
    await page.getByLabel('The id of another run').fill(two);
    await page.getByRole('button', { name: 'Compare' }).click();
    await sees(page, /Step 2 is the first that differs/, /- note: a/, /\+ note: b/, /- peek a/);
    await assertAccessible(page);
    await page.goto(`${stack.url}/runs/${one}/compare/${three}`);
    await sees(page, /No step differs/);
    assert.deepEqual(complaints, []);
  });

  it('shows the work below a session as a tree', async () => {
    await run(
      'giver',
      'spawn {"action":"run","label":"first","task":"One."}\nthen\nspawn {"action":"run","label":"second","task":"Two."}\nthen\nEnd.',
    );
    const { page, complaints } = await open('sessions/giver/graph');
    await sees(page, /subagent first/, /subagent second/, /completed/);
    const works = await page.getByRole('listitem').allInnerTexts();
    assert.match(works[0] ?? '', /first/);
    await assertAccessible(page);
    await page.goto(`${stack.url}/sessions/cold/graph`);
    await sees(page, /has given no work to others/);
    assert.deepEqual(complaints, []);
  });

  it('R1 shows nothing of another tenant or user', async () => {
    const turn = await run('private', 'Hello.');
    const ann = await stack.makeKey(['read'], { user: 'ann' });
    const { page } = await open(`runs/${turn}`, ann);
    await sees(page, /There is no turn with this id/);
    await page.goto(`${stack.url}/runs/${turn}/compare/${turn}`);
    await sees(page, /There is no turn with this id/);
    await page.goto(`${stack.url}/sessions/private/graph`);
    await sees(page, /There is no session with this key/);
  });

  it(`keeps few rows of ${MANY} steps in the document`, async () => {
    const turn = await run('long', 'Hello.');
    await stack.pool.query(
      `insert into messages (tenant_id, id, session_key, turn_id, step, role, text, model, usage, position, created_at)
       select $1, 'many-' || n, 'long', $2, n, 'assistant', 'Answer ' || n, 'rehearsal/follow', '{}', 10 + n, now() + n * interval '1 second'
       from generate_series(2, $3) n`,
      [stack.tenant, turn, MANY],
    );
    const { page, complaints } = await open(`runs/${turn}?step=${MANY - 1}`);
    await row(page, new RegExp(`Answer ${MANY - 1}`)).waitFor();
    const rows = page.getByRole('listitem');
    assert.ok((await rows.count()) < 100);
    assert.equal(await rows.first().getAttribute('aria-setsize'), String(MANY));
    await page.keyboard.press('k');
    await row(page, new RegExp(`Answer ${MANY - 2}`)).waitFor();
    assert.equal(chosen(page), String(MANY - 2));
    assert.deepEqual(complaints, []);
  });
});
