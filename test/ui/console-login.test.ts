/** IN-10, IN-7: the console asks its user for a login that a call needs, and the call goes on. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startLoginServer } from '#features/mcp/test/mcp-login-server.ts';
import { startStack } from '#test/support/stack.ts';
import { findChromium, sees, startBrowser } from './browser.ts';
import { assertAccessible, buildFiles, logIn, openConsole } from './console-page.ts';

const chromium = findChromium();
const skip =
  chromium === undefined && process.env['CI'] !== 'true' ? 'no Chromium is installed on this machine' : false;

it('IN-10 a missing login is one button in the inbox', { skip }, async (t) => {
  assert.ok(chromium);
  await buildFiles();
  const peer = await startLoginServer();
  t.after(() => peer.close());
  const stack = await startStack({
    console: { enabled: true },
    egress: { allowPrivate: [peer.host] },
    settings: `egress: { allowPrivate: ["${peer.host}"] }`,
  });
  t.after(() => stack.stop());
  const browser = await startBrowser(chromium);
  t.after(() => browser.close());
  const eve = await stack.makeKey(['read', 'run', 'approve'], { user: 'eve' });
  peer.keys.set('key-of-adam', 'adam');
  const server = { name: 'desk', url: peer.url, credentials: 'per_user' };
  await stack.ask('POST', '/v1/mcp/servers', { body: server });
  const path = '/v1/mcp/servers/desk/user-credentials?user=adam';
  await stack.ask('PUT', path, { body: { headers: { Authorization: 'Bearer key-of-adam' } } });
  await stack.worker.until('the server to be ready', async () =>
    (await stack.ask('GET', '/v1/mcp/servers/desk')).body.status === 'ready' ? true : undefined,
  );
  const { turn_id } = await stack.worker.say('desk', 'mcp_desk__whoami {}', { user: 'eve' });
  await stack.worker.approvalOf('desk');

  const { page, complaints } = await openConsole(browser, `${stack.url}/inbox`);
  await logIn(page, eve);
  await sees(page, /eve has to log in for the MCP server desk/, /Reject/);
  assert.equal(await page.getByRole('button', { name: 'Approve', exact: true }).count(), 0);
  await assertAccessible(page);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  const link = page.getByRole('link', { name: /Log in at 127\.0\.0\.1/ });
  const back = await peer.agree((await link.getAttribute('href')) ?? '', 'eve-by-oauth');
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  assert.equal((await fetch(back, { method: 'POST', headers, body: '' })).status, 200);
  await sees(page, /Nothing waits/);
  await stack.worker.ended(turn_id);
  assert.match((await stack.worker.calls(turn_id))[0]?.result ?? '', /you are eve-by-oauth/);
  assert.deepEqual(complaints, []);
});
