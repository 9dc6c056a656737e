/** IN-5: what a person sees who opens a session's run, and its approval, in Temporal's web UI; in a real browser. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { eventually } from '#test/support/processes.ts';
import { type Clone, cloneRepository, type Program } from '#test/start/program.ts';
import { findChromium, openPage, sees, startBrowser } from './browser.ts';
import { useCustomTool } from './use-custom-tool.ts';

const path = findChromium();
const skip = path === undefined && process.env['CI'] !== 'true' ? 'no chromium on PATH' : false;

describe('IN-5 a session in the Temporal web UI', { skip }, () => {
  let clone: Clone;
  let program: Program;
  let browser: Browser;
  let page: Page;
  /** The link to the run that waits for an approval, as the API returns it. */
  let link: string;
  let approval: { id: string; links: { temporal: string } };
  before(async () => {
    assert.ok(path !== undefined, 'with CI=true a chromium must be installed');
    clone = await cloneRepository();
    program = await clone.start();
    browser = await startBrowser(path);
    page = await openPage(browser, { width: 1440, height: 1000 });
    const answer = await program.ask('POST', '/v1/sessions/seen/messages', {
      text: 'run a command, key sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789',
      user: 'ann',
    });
    assert.equal(answer.status, 202, JSON.stringify(answer.body));
    const isAsked = async (): Promise<boolean> => {
      approval = (await program.ask('GET', '/v1/approvals?status=pending')).body.data[0];
      return approval !== undefined;
    };
    assert.ok(await eventually(isAsked, 60_000), 'the turn asks for an approval');
    link = (await program.ask('GET', '/v1/sessions/seen')).body.links.temporal;
  });
  after(async () => {
    await browser?.close();
    await clone?.remove();
  });

  it('the link of the API opens that very run, with its steps named', async () => {
    assert.match(link, /^http.*\/session%2Fdefault%2Fseen\/[0-9a-f-]{36}$/);
    await page.goto(link);
    await sees(
      page,
      /session\/default\/seen/,
      /agentTurn/,
      /call_model • step 1/,
      /exec: node -p "6 \* 7"/,
      /Running/i,
    );
  });

  it('the CLI gives the same link', async () => {
    const { stdout, stderr } = await clone.command('npx', [
      '--no-install',
      'tempoclaw',
      'sessions',
      'show',
      'seen',
    ]);
    assert.ok(stdout.includes(link), stdout + stderr);
  });

  it('user metadata tells agent, user, goal, step, what was spent and who is waited for', async () => {
    await page.goto(`${link}/user-metadata`);
    await sees(
      page,
      /main for ann: session seen/,
      /run a command/,
      /Step 1, \d+ tokens/,
      new RegExp(`waits for a decision: exec: node -p "6 \\* 7" \\(\\s*${approval.id}\\s*\\)`),
    );
    const inner = page.frames().filter((frame) => frame !== page.mainFrame());
    const items = await Promise.all(inner.map((frame) => frame.locator('li').count()));
    assert.equal(Math.max(...items), 1, 'what is waited for is an item of a list');
  });

  it('DU-3 no page of the run shows the secret that the message held', async () => {
    for (const tab of ['timeline', 'history', 'user-metadata', 'search-attributes', 'memo', 'query']) {
      await page.goto(`${link}/${tab}`);
      const shown = await sees(page, /session\/default\/seen/);
      assert.doesNotMatch(shown, /AbCdEfGhIjKl/, tab);
    }
  });

  it('search attributes name tenant, session, agent, user and state', async () => {
    await page.goto(`${link}/search-attributes`);
    const shown = await sees(page, /"TempoclawState": "waiting_approval"/);
    for (const pair of ['Tenant": "default', 'Session": "seen', 'Agent": "main', 'User": "ann'])
      assert.ok(shown.includes(`"Tempoclaw${pair}"`), pair);
  });

  it('the list of workflows is filtered by them', async () => {
    const query = `TempoclawState = "waiting_approval" and TempoclawUser = "ann"`;
    await page.goto(
      `${program.run.temporal_ui}/namespaces/${program.run.namespace}/workflows?query=${encodeURIComponent(query)}`,
    );
    await sees(page, /session\/default\/seen/);
  });

  it('the approval is a run of its own that says how to decide; once decided, the turn shows its end', async () => {
    await page.goto(approval.links.temporal);
    await sees(page, /approval\/apr_/);
    await page.goto(`${page.url().replace(/\/timeline.*$/, '')}/user-metadata`);
    await sees(page, /Waits for a decision until/, /decide: update or signal decide/);
    const decided = await program.ask('POST', `/v1/approvals/${approval.id}/decision`, {
      decision: 'approve',
    });
    assert.equal(decided.status, 200);
    await page.goto(`${link}/timeline`);
    // The timeline shows what ran within a workflow task by its name only.
    await sees(
      page,
      /Completed/i,
      /call_model • step 1/,
      /^\s*exec( • exec: .*)?$/m,
      /"status": "completed"/,
    );
  });

  it('CU-1 a custom tool that was just made over HTTP, and is used at once, has its own name there', async () => {
    const counting = await useCustomTool(program);
    assert.equal(counting.turn.status, 'completed', JSON.stringify(counting.turn));
    assert.match(counting.turn.text, /That is all/);
    await page.goto(`${counting.link}/timeline`);
    await sees(page, /Completed/i, /write_file/, /count_lines • count_lines: wc -l 'poem.txt'/);
  });

  it('the API shows its own contract at /docs', async () => {
    await page.goto(`${program.run.api}/docs`);
    await sees(page, /TempoClaw/, /Send a message/);
  });
});
