/** IN-7 pages of the console for those who operate: costs, health, boards of teams, and the canvas of a session. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { type Stack, startStack } from '#test/support/stack.ts';
import { findChromium, sees, startBrowser } from './browser.ts';
import { assertAccessible, buildFiles, type ConsolePage, logIn, openConsole } from './console-page.ts';

const chromium = findChromium();
const skip =
  chromium === undefined && process.env['CI'] !== 'true' ? 'no Chromium is installed on this machine' : false;

describe('IN-7 operating in the console', { skip }, () => {
  let stack: Stack;
  let browser: Browser;
  before(async () => {
    assert.ok(chromium);
    await buildFiles();
    stack = await startStack({
      console: { enabled: true },
      agents: ['clerk', 'idle'].map((key) => ({ key, type: 'open', model: 'rehearsal/follow' })),
    });
    browser = await startBrowser(chromium);
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
  });

  async function open(path: string, key = stack.key, size?: { width: number; height: number }) {
    const opened: ConsolePage = await openConsole(browser, `${stack.url}/${path}`, size);
    await logIn(opened.page, key);
    return opened;
  }

  it('DU-7 shows what is used of a budget while the turn runs', async () => {
    await stack.ask('POST', '/v1/budgets', { body: { scope: 'tenant', calls: 40, period: 'day' } });
    const { page, complaints } = await open('costs');
    await sees(page, /All work\s+0 calls of 40 calls · renews .* · then asks for more/);
    const { turn_id } = await stack.worker.say('spends', 'poke {"note":"may I"}\nthen\nDone.');
    await sees(page, /1 calls of 40 calls/);
    const id = await stack.worker.approvalOf('spends');
    await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision: 'approve' } });
    await stack.worker.ended(turn_id);
    await sees(page, /2 calls of 40 calls/);
    await assertAccessible(page);
    assert.deepEqual(complaints, []);
  });

  it('IN-2 asks for costs and boards again when they change, and not while they do not', async () => {
    await stack.ask('POST', '/v1/teams', { body: { key: 'calm', lead: 'main', members: [] } });
    const { page, complaints } = await open('costs');
    await page.clock.install();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    for (const [path, shown] of [
      ['costs', /Budgets/],
      ['teams/calm', /No tasks/],
    ] as const) {
      const changes = page.waitForResponse(/\/v1\/changes/);
      await page.goto(`${stack.url}/${path}`);
      await sees(page, shown);
      await changes;
      // It reads once more now that its stream of changes is there.
      await sleep(500);
      await page.clock.runFor(1_000);
      await sleep(500);
      asked.length = 0;
      // Longer than the interval for a stream that is cut, and shorter than the silence that counts as a cut.
      await page.clock.runFor(12_000);
      assert.deepEqual(asked, [], path);
    }
    await page.clock.resume();
    await stack.ask('POST', '/v1/teams/calm/tasks', { body: { subject: 'Wakes it' } });
    await sees(page, /Wakes it/);
    assert.deepEqual(complaints, []);
    // Without the stream it asks at intervals.
    await page.route(/\/v1\/changes/, (route) => route.abort());
    await page.reload();
    await sees(page, /Wakes it/);
    await stack.ask('POST', '/v1/teams/calm/tasks', { body: { subject: 'Found late' } });
    await page.clock.runFor(11_000);
    await sees(page, /Found late/);
  });

  it('DU-7 shows the figures of /v1/usage, as a chart and as a table, also on a phone', async () => {
    const say = { agent: 'clerk', text: 'Good <img src=x onerror=alert(1)> day.' };
    await stack.ask('POST', '/v1/sessions/usage/messages?wait=60', { body: say });
    const { page, complaints } = await open('costs?by=agent&of=calls', stack.key, {
      width: 390,
      height: 844,
    });
    await page
      .getByRole('img', { name: /^calls by day/ })
      .locator('canvas')
      .waitFor();
    const beyond = await page.evaluate(
      "document.querySelector('.chart .uplot').getBoundingClientRect().right + parseFloat(getComputedStyle(document.querySelector('.chart')).paddingRight) - document.querySelector('.chart').getBoundingClientRect().right",
    );
    assert.ok(Number(beyond) < 1, `the chart is ${String(beyond)} pixels too wide`);
    const { body } = await stack.ask('GET', '/v1/usage?by=agent');
    const rows = await page.getByRole('group', { name: 'Figures' }).locator('tbody tr').allInnerTexts();
    assert.ok(body.data.length > 0);
    assert.deepEqual(
      rows.map((row) => {
        const [agent, calls, input, cached, output, , unpriced] = row.split('\t');
        return [agent, ...[calls, input, cached, output, unpriced].map(Number)];
      }),
      body.data.map((row: Record<string, unknown>) =>
        ['agent', 'calls', 'input_tokens', 'cached_tokens', 'output_tokens', 'unpriced_calls'].map(
          (name) => row[name],
        ),
      ),
    );
    const agent = page.getByRole('textbox', { name: 'agent' });
    await agent.pressSequentially('nob');
    const calls = Number(rows[0]?.split('\t')[1]);
    await stack.ask('POST', '/v1/sessions/usage/messages?wait=60', { body: say });
    await page
      .getByRole('cell', { name: String(calls + 1), exact: true })
      .first()
      .waitFor();
    assert.equal(await agent.inputValue(), 'nob', 'what is typed stays while the page is drawn again');
    await agent.fill('nobody');
    await agent.press('Enter');
    await sees(page, /No model was used in these days/);
    assert.equal(new URL(page.url()).searchParams.get('agent'), 'nobody');
    await assertAccessible(page);
    const overflow = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    assert.equal(overflow, 0);
    const other = await stack.makeTenant();
    const foreign = await open('costs?agent=clerk', other.key);
    await sees(foreign.page, /Nothing is limited/, /No model was used in these days/);
    assert.deepEqual([...complaints, ...foreign.complaints], []);
  });

  /** A turn that shows the page. */
  async function shows(session: string, html: string): Promise<void> {
    const { turn_id } = await stack.worker.say(session, `canvas ${JSON.stringify({ action: 'show', html })}`);
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
  }

  it('shows the canvas beside what was said, and gives what it sends to the agent', async () => {
    await shows('shown', '<h1>One</h1>');
    const { page, complaints } = await open('sessions/shown');
    await page.frameLocator('iframe').getByRole('heading', { name: 'One' }).waitFor();
    await shows('shown', `<button onclick="sendToAgent({ picked: 'tea' })">Tea</button>`);
    await page.frameLocator('iframe').getByRole('button', { name: 'Tea' }).click();
    await sees(page, /"picked":"tea"/);
    await assertAccessible(page);
    await page.getByText('Canvas', { exact: true }).click();
    assert.equal(await page.locator('iframe').isVisible(), false);
    assert.deepEqual(complaints, []);
  });

  it('R1 keeps a canvas from the console’s page, its cookies, its storage and the API', async () => {
    const tries = {
      around: 'parent.document.title',
      address: 'parent.location.href',
      cookie: 'document.cookie',
      stored: 'localStorage.length',
      api: `(await fetch('${stack.url}/v1/me')).status`,
      top: `top.location.href = '${stack.url}/healthz'`,
    };
    const { page } = await open('sessions/shown');
    await page.evaluate("localStorage.setItem('tempoclaw-theme', 'dark')");
    await shows(
      'hostile',
      `<pre id="out"></pre><script>(async () => {
        for (const [name, script] of Object.entries(${JSON.stringify(tries)})) {
          let found;
          try { found = 'REACHED ' + await eval('(async () => ' + script + ')()'); } catch { found = 'refused'; }
          out.textContent += name + ' ' + found + '\\n';
        }
        out.textContent += 'origin ' + origin;
      })()</script>`,
    );
    await page.goto(`${stack.url}/sessions/hostile`);
    const shown = await sees(page, /^origin null$/m);
    for (const name of Object.keys(tries)) assert.match(shown, new RegExp(`^${name} refused$`, 'm'), shown);
    assert.match(page.url(), /\/sessions\/hostile$/);
  });

  it('R1 a canvas is its session’s: nobody else’s key reads its steps', async () => {
    const ann = await stack.makeKey(['read'], { user: 'ann' });
    const { key: foreign } = await stack.makeTenant();
    const path = '/v1/sessions/shown/canvas';
    assert.match(JSON.stringify((await stack.ask('GET', path)).body), /Tea/);
    for (const key of [ann, foreign]) assert.equal((await stack.ask('GET', path, { key })).status, 404);
    const { page } = await open('sessions/shown', ann);
    await sees(page, /There is no session with this key/);
  });

  it('TE-4 assigns and moves the tasks of a team, by keyboard and by drag, and shows what others do', async () => {
    await stack.ask('POST', '/v1/teams', {
      body: { key: 'press', lead: 'main', members: ['clerk', 'idle'] },
    });
    const create = async (subject: string, fields: object = {}): Promise<void> => {
      const { status } = await stack.ask('POST', '/v1/teams/press/tasks', { body: { subject, ...fields } });
      assert.equal(status, 201);
    };
    const doneBy = async (task: number): Promise<string[]> =>
      (await stack.ask('GET', `/v1/teams/press/events?task=${task}`)).body.data.map(
        ({ action, reason }: { action: string; reason: string | null }) => `${action} ${reason ?? ''}`,
      );
    await create('First <img src=x onerror=alert(1)>');
    await create('Second');
    await create('Third', { blocked_by: [2] });
    const { page, complaints } = await open('teams/press');
    const column = (name: string) => page.getByRole('region', { name });
    const card = (name: RegExp) => page.getByRole('link', { name });
    await column('Blocked').getByText('waits for #2').waitFor();
    await column('Open').getByText('First <img').waitFor();
    await card(/#1 /).press('Enter');
    await page.getByLabel('Comment, answer, reason or result').fill('Soon, **please**.');
    await page.getByRole('button', { name: 'comment' }).press('Enter');
    await page.getByText('please', { exact: true }).waitFor();
    await assertAccessible(page);
    await page
      .getByRole('group', { name: 'Assign to' })
      .getByRole('button', { name: 'clerk' })
      .press('Enter');
    await column('Completed').getByText('First').waitFor();
    assert.ok((await doneBy(1)).includes('assign clerk'));
    await page.getByRole('button', { name: '← Board' }).click();
    await card(/#3 /).dragTo(column('Ended'));
    await column('Ended').getByText('cancelled').waitFor();
    assert.ok((await doneBy(3)).some((event) => event.startsWith('cancel')));
    await card(/#2 /).dragTo(page.getByRole('list', { name: 'Members' }).getByText('clerk'));
    await column('Completed').getByText('Second').waitFor();
    assert.ok((await doneBy(2)).includes('assign clerk'));
    await create('Fourth');
    await column('Open').getByText('Fourth').waitFor();
    const { body } = await stack.ask('POST', '/v1/teams/press/tasks/4/claim', {
      body: { member: 'idle', lease_seconds: 90 },
    });
    await column('In progress')
      .getByText(/idle · lease (1:30|1:[0-2]\d|0:\d\d)/)
      .waitFor();
    assert.ok(body.lease.token && !(await page.content()).includes(body.lease.token));
    assert.deepEqual(complaints, []);
  });

  it('TE-4 answers what a task asks, and leads to the session where delegated work is done', async () => {
    await stack.ask('POST', '/v1/teams', { body: { key: 'desk', lead: 'clerk', members: ['idle'] } });
    await stack.ask('POST', '/v1/agent-links', { body: { source: 'clerk', target: 'idle' } });
    await stack.ask('POST', '/v1/teams/desk/tasks', { body: { subject: 'Paint' } });
    const claim = await stack.ask('POST', '/v1/teams/desk/tasks/1/claim', { body: { member: 'idle' } });
    const { token } = claim.body.lease;
    await stack.ask('POST', '/v1/teams/desk/tasks/1/ask_user', {
      body: { member: 'idle', token, text: 'Which colour?' },
    });
    const { page, complaints } = await open('teams/desk?task=1');
    const answer = page.getByRole('button', { name: 'answer' });
    await answer.waitFor();
    assert.equal(await answer.isDisabled(), true);
    assert.equal(await page.getByRole('link', { name: 'idle’s session' }).count(), 0);
    await page.getByLabel('Comment, answer, reason or result').fill('Blue.');
    await answer.click();
    await page.getByText('Blue.', { exact: true }).waitFor();
    await answer.waitFor({ state: 'detached' });
    const { body: sent } = await stack.ask('POST', '/v1/sessions/counter/messages?wait=60', {
      body: {
        agent: 'clerk',
        text: 'delegate {"agent_key":"idle","label":"Sand","task":"Sand it.\\nwait {\\"timeMs\\":60000}"}',
      },
    });
    assert.equal(sent.status, 'completed');
    await page.getByRole('button', { name: '← Board' }).click();
    await page.getByRole('region', { name: 'In progress' }).getByRole('link', { name: / Sand/ }).click();
    await page.getByRole('link', { name: 'idle’s session' }).click();
    await sees(page, /Delegated by clerk[^]*Sand it\./);
    await stack.ask('POST', '/v1/sessions/counter/stop', { body: { level: 'all' } });
    assert.deepEqual(complaints, []);
  });

  it('R1 shows no board of another tenant, and lets nobody act who may only read', async () => {
    const { key } = await stack.makeTenant();
    const foreign = await open('teams/press', key);
    await sees(foreign.page, /There is no team with this key/);
    const { page, complaints } = await open('teams/press?task=4', await stack.makeKey(['read']), {
      width: 390,
      height: 844,
    });
    await page.getByRole('group', { name: 'Move' }).waitFor();
    for (const button of await page
      .getByRole('group', { name: /^(Move|Assign to)$/ })
      .getByRole('button')
      .all())
      assert.equal(await button.isDisabled(), true);
    await assertAccessible(page);
    await page.getByRole('button', { name: '← Board' }).click();
    await page.getByRole('link', { name: /#4 / }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it('DU-11 shows the deliveries and the anchors that fail, and the installation to its operators only', async () => {
    const { key, tenant } = await stack.makeTenant();
    const made = await stack.ask('POST', '/v1/webhooks', {
      body: { url: 'https://hooks.example/in', events: ['*'] },
      key,
    });
    assert.equal(made.status, 201);
    await stack.pool.query(
      `update webhooks set failures = 7, retry_at = now() + interval '1 hour' where tenant_id = $1`,
      [tenant],
    );
    await stack.pool.query(
      `insert into evidence_anchors (tenant_id, name, seq, failures, problem)
      values ($1, 'vault', 4, 0, null), ($1, 'auditor', 2, 3, 'the webhook auditor answered 503')`,
      [tenant],
    );
    const foreign = await open('health', key);
    await sees(foreign.page, /This is for admins of the tenant/, /hooks\.example\S+\s+open\s+7/);
    await sees(
      foreign.page,
      /vault\s+works\s+4 of/,
      /auditor\s+3 failures: the webhook auditor answered 503\s+2 of/,
    );
    const { page, complaints } = await open('health');
    await sees(page, /call_model|nothing/, /workflow/, /none fails/);
    await assertAccessible(page);
    assert.deepEqual(complaints, []);
  });

  it('says nothing on the page of health of features that are not there', async () => {
    const { page } = await open('health');
    await sees(page, /workflow/);
    const absent = ['webhooks', 'channels', 'evidence'];
    const body = JSON.stringify({ status: 404, title: 'NotFound', detail: 'nothing is here' });
    const answers = absent.map(async (path) => {
      await page.route(`**/v1/${path}`, (route) =>
        route.fulfill({ status: 404, contentType: 'application/problem+json', body }),
      );
      await page.waitForResponse((response) => response.url().endsWith(`/v1/${path}`));
    });
    await Promise.all([page.reload(), ...answers]);
    await sees(page, /workflow/);
    assert.doesNotMatch(await page.locator('main').innerText(), /nothing is here|Deliveries|Anchors/);
  });
});
