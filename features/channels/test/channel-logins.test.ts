/** IN-10, IN-4: a missing login is asked for in the chat where the person wrote, and only this person can give it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startLoginServer } from '#features/mcp/test/mcp-login-server.ts';
import { startTelegramChat } from '#test/support/telegram-chat.ts';
import { pressUpdate, textUpdate } from '#test/support/telegram-server.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

it('IN-10 a login that is missing in a group chat is given by its user, by a link that nobody else gets', async (t) => {
  const peer = await startLoginServer();
  t.after(() => peer.close());
  const egress = { allowPrivate: [peer.host] };
  const more = `egress: { allowPrivate: ["${peer.host}"] }`;
  const chat = await startTelegramChat(t, { groups: 'all' }, [], more, egress);
  await chat.pair('42', 'ann', false);
  await chat.pair('43', 'bob');
  peer.keys.set('key-of-bob', 'bob');
  const server = { name: 'desk', url: peer.url, credentials: 'per_user' };
  assert.equal((await chat.ask('POST', '/v1/mcp/servers', { body: server })).status, 201);
  const body = { headers: { Authorization: 'Bearer key-of-bob' } };
  await chat.ask('PUT', '/v1/mcp/servers/desk/user-credentials?user=bob', { body });
  await chat.worker.until('the server to be ready', async () =>
    (await chat.ask('GET', '/v1/mcp/servers/desk')).body.status === 'ready' ? true : undefined,
  );

  await chat.hears(textUpdate('mcp_desk__whoami {}\nthen\nDone.', { group: true, chat: -1001 }));
  const question = await chat.shows('the question', ({ buttons }) => buttons.length > 0);
  assert.deepEqual(
    [question.chat, question.buttons.map(({ text }) => text)],
    ['-1001', ['Reject', 'Log in']],
  );
  assert.match(question.text, /ann has to log in for the MCP server desk/);
  assert.match((await chat.hears(pressUpdate(question, 'Log in', 43))).body.text, /may not decide/);
  assert.match((await chat.hears(pressUpdate(question, 'Reject', 43))).body.text, /not among its approvers/);
  assert.match((await chat.hears(pressUpdate(question, 'Log in'))).body.text, /direct message/);
  const sent = await chat.shows(
    'the link',
    ({ chat: place, text }) => place === '42' && text.includes('/a/'),
  );
  const [, token] = /\/a\/([\w-]{43})/.exec(sent.text) ?? [];
  const page = `${chat.url}/a/${token}`;
  const [, digest = ''] = /name="digest" value="([0-9a-f]{64})"/.exec(await (await fetch(page)).text()) ?? [];
  const post = { method: 'POST', headers: FORM, body: `decision=approve&digest=${digest}` };
  const [, address = ''] =
    /href="([^"]+\/authorize[^"]*)"/.exec(await (await fetch(page, post)).text()) ?? [];
  const back = await peer.agree(address.replaceAll('&amp;', '&'), 'ann-by-oauth');
  assert.equal((await fetch(back, { method: 'POST', headers: FORM, body: '' })).status, 200);
  await chat.shows('the answer', ({ text }) => text === 'Done.');
  const { body: turns } = await chat.ask('GET', '/v1/sessions/tg:-1001/turns');
  assert.match((await chat.worker.calls(turns.data[0].id))[0]?.result ?? '', /you are ann-by-oauth/);
});
