/** IN-7 the inbox of the console: what waits for a decision, and the decision. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { type Stack, startStack } from '#test/support/stack.ts';
import { findChromium, sees, startBrowser } from './browser.ts';
import { assertAccessible, buildFiles, type ConsolePage, logIn, openConsole } from './console-page.ts';

const chromium = findChromium();
const skip =
  chromium === undefined && process.env['CI'] !== 'true' ? 'no Chromium is installed on this machine' : false;
const MANY = 1_000;

describe('IN-7 the inbox of the console', { skip }, () => {
  let stack: Stack;
  let browser: Browser;
  before(async () => {
    assert.ok(chromium);
    await buildFiles();
    stack = await startStack({
      console: { enabled: true },
      agents: [
        { key: 'clerk', type: 'open', model: 'rehearsal/follow', exec: { security: 'full', ask: 'always' } },
      ],
    });
    browser = await startBrowser(chromium);
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
  });

  /** Returns the id of the approval that the command waits for. */
  async function asks(session: string, command: string): Promise<string> {
    const text = `exec ${JSON.stringify({ command })}`;
    const { status } = await stack.ask('POST', `/v1/sessions/${session}/messages`, {
      body: { text, agent: 'clerk' },
    });
    assert.equal(status, 202);
    return stack.worker.approvalOf(session);
  }
  async function openInbox(path = 'inbox', size?: { width: number; height: number }): Promise<ConsolePage> {
    const opened = await openConsole(browser, `${stack.url}/${path}`, size);
    await logIn(opened.page, stack.key);
    return opened;
  }
  const approval = async (id: string): Promise<Record<string, unknown>> =>
    (await stack.ask('GET', `/v1/approvals/${id}`)).body;
  const settled = async (id: string): Promise<Record<string, unknown>> => {
    for (;;) {
      const row = await approval(id);
      if (row['status'] !== 'pending') return row;
    }
  };
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });

  it('takes two clicks from the first page to a decision', async () => {
    const id = await asks('two-clicks', 'echo two');
    const { page, complaints } = await openInbox('');
    await page.getByRole('link', { name: 'Inbox' }).click();
    await sees(page, /1 waiting/, /echo two/, /keys without a user|anyone with approve/);
    await assertAccessible(page);
    await button(page, 'Approve').click();
    await sees(page, /Approved/, /Nothing waits/);
    assert.deepEqual(
      [(await settled(id))['status'], (await settled(id))['decision']],
      ['approved', 'approve'],
    );
    assert.deepEqual(complaints, []);
  });

  it('marks the programs that the shell’s parser finds', async () => {
    const id = await asks('marks', 'timeout 5 git push origin main && echo "pushed"');
    const { page, complaints } = await openInbox();
    await sees(page, /\d commands in it/);
    const programs = await page.locator('mark.program').allInnerTexts();
    assert.ok(programs.includes('echo') && programs.includes('git'), programs.join());
    await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision: 'reject' } });
    await sees(page, /Nothing waits/);
    assert.deepEqual(complaints, []);
  });

  it('R1 shows hidden characters as their codes, and text of others as text', async () => {
    const note = '\u202Ekcab <img src=x onerror=alert(1)>';
    await stack.ask('POST', '/v1/sessions/hidden/messages', {
      body: { text: `poke ${JSON.stringify({ note })}` },
    });
    const id = await stack.worker.approvalOf('hidden');
    const { page, complaints } = await openInbox();
    await sees(page, /U\+202E\s*kcab <img/);
    assert.equal(await page.locator('main img').count(), 0);
    await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision: 'approve' } });
    await sees(page, /Nothing waits/);
    assert.deepEqual(complaints, []);
  });

  it('is used by keys: j and k choose, r says why not, e runs other arguments, / filters', async () => {
    const [first, second] = [await asks('keys-1', 'echo first'), await asks('keys-2', 'echo second')];
    const { page, complaints } = await openInbox();
    await sees(page, /2 waiting/);
    await page.keyboard.press('j');
    await page.waitForURL(/id=/);
    assert.equal(new URL(page.url()).searchParams.get('id'), second);
    await page.keyboard.press('k');
    assert.equal(new URL(page.url()).searchParams.get('id'), first);
    await page.keyboard.press('r');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/Why not/).fill('Not today');
    await assertAccessible(page);
    await button(page, 'Reject').click();
    const rejected = await settled(first);
    assert.deepEqual([rejected['status'], rejected['note']], ['denied', 'Not today']);
    await sees(page, /Rejected/, /1 waiting/);
    assert.equal(await page.getByText('echo first').count(), 0);
    await page.keyboard.press('/');
    await page.keyboard.type('nothing-like-it');
    await sees(page, /None of those that wait has these words/);
    assert.equal(await page.getByRole('listitem').count(), 0);
    await page.keyboard.press('Escape');
    await page.getByRole('searchbox').fill('clerk second');
    await page.getByRole('searchbox').blur();
    await sees(page, /echo second/);
    await page.keyboard.press('e');
    await dialog.getByLabel(/^command/).fill('echo edited');
    await assertAccessible(page);
    await page.keyboard.press('Control+Enter');
    const edited = await settled(second);
    assert.deepEqual(edited['args'], { command: 'echo edited' });
    assert.deepEqual(complaints, []);
  });

  it('shows a decision that is made elsewhere at once', async () => {
    const id = await asks('elsewhere', 'echo elsewhere');
    const { page, complaints } = await openInbox(`inbox?id=${id}`);
    await button(page, 'Approve').waitFor();
    await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision: 'approve' } });
    await sees(page, /approved by/, /0 waiting/);
    assert.equal(await button(page, 'Approve').count(), 0);
    assert.deepEqual(complaints, []);
  });

  it('keeps what is shown when it is decided elsewhere, so that a key decides nothing that nobody has read', async () => {
    const [first, second] = [await asks('kept-1', 'echo kept'), await asks('kept-2', 'echo unread')];
    const { page, complaints } = await openInbox();
    await sees(page, /2 waiting/);
    await stack.ask('POST', `/v1/approvals/${first}/decision`, { body: { decision: 'approve' } });
    await sees(page, /approved by/, /1 waiting/);
    await page.keyboard.press('a');
    await page.keyboard.press('j');
    await page.waitForURL(new RegExp(second));
    assert.equal((await approval(second))['status'], 'pending');
    await page.keyboard.press('a');
    await sees(page, /Nothing waits/);
    assert.equal((await settled(second))['status'], 'approved');
    assert.deepEqual(complaints, []);
  });

  it('shows the approval of the address, also one that was decided before', async () => {
    const decided = await asks('linked-1', 'echo linked');
    await stack.ask('POST', `/v1/approvals/${decided}/decision`, { body: { decision: 'approve' } });
    const waiting = await asks('linked-2', 'echo waiting');
    const { page, complaints } = await openInbox(`inbox?id=${decided}`);
    await sees(page, /exec: echo linked/, /approved by/, /1 waiting/);
    assert.equal(await page.getByRole('button', { name: 'Approve', exact: true }).count(), 0);
    await stack.ask('POST', `/v1/approvals/${waiting}/decision`, { body: { decision: 'approve' } });
    assert.deepEqual(complaints, []);
  });

  it('greys out decisions that the key may not make', async () => {
    const id = await asks('greyed', 'echo greyed');
    const key = await stack.makeKey(['read']);
    const { page, complaints } = await openConsole(browser, `${stack.url}/inbox`);
    await logIn(page, key);
    await sees(page, /echo greyed/);
    assert.equal(await button(page, 'Approve').isDisabled(), true);
    await page.keyboard.press('a');
    assert.equal((await approval(id))['status'], 'pending');
    await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision: 'approve' } });
    assert.deepEqual(complaints, []);
  });

  it(`holds ${MANY} approvals with a few rows in the page, also on a phone`, async () => {
    await stack.pool.query(
      `insert into approvals (tenant_id, id, call_id, session_key, turn_id, agent_key, tool, args, summary, digest, always, status, expires_at)
       select $1, 'apr_many-' || n, 'call-' || n, 'two-clicks', 'turn-' || n, 'clerk', 'exec', '{"command":"echo many"}', 'exec: echo ' || n, repeat('0', 64), '{"refused":"a test"}', 'pending', now() + interval '1 hour'
       from generate_series(1, ${MANY}) n`,
      [stack.worker.tenant],
    );
    const { page, complaints } = await openInbox('inbox', { width: 390, height: 844 });
    await sees(page, new RegExp(`${MANY} waiting`));
    assert.ok((await page.getByRole('listitem').count()) < 60);
    await page.getByRole('list', { name: 'Approvals that wait' }).press('End');
    await page.getByRole('listitem').last().click();
    await button(page, 'Approve').waitFor();
    await assertAccessible(page);
    const overflow = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    assert.equal(overflow, 0);
    await button(page, '← All').click();
    await page.getByRole('listitem').first().waitFor();
    await page.getByRole('searchbox').focus();
    await page.keyboard.type('clerk echo 99', { delay: 0 });
    assert.equal(await page.getByRole('searchbox').inputValue(), 'clerk echo 99', 'no letter is lost');
    assert.deepEqual(complaints, []);
  });
});
