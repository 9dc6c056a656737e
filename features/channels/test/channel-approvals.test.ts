import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTelegramChat as start } from '#test/support/telegram-chat.ts';
import { pressUpdate, textUpdate } from '#test/support/telegram-server.ts';

describe('AP-2 approvals in a Telegram channel', () => {
  it('are decided by the button of somebody who may, and of nobody else', async (t) => {
    const chat = await start(t);
    await chat.pair('42', 'ann');
    await chat.pair('43', 'bob', false);
    await chat.hears(textUpdate('poke {"note":"x"}'));
    const question = await chat.shows('the question', ({ buttons }) => buttons.length > 0);
    assert.match(question.text, /poke/);
    assert.match(question.text, /&quot;note&quot;: &quot;x&quot;/);
    const stranger = await chat.hears(pressUpdate(question, 'Approve', 99));
    assert.equal(stranger.body.method, 'answerCallbackQuery');
    assert.match(stranger.body.text, /may not decide/);
    assert.match((await chat.hears(pressUpdate(question, 'Approve', 43))).body.text, /may not decide/);
    assert.equal((await chat.ask('GET', '/v1/approvals?status=pending')).body.data.length, 1);
    const pressed = await chat.hears(pressUpdate(question, 'Approve'));
    assert.match(pressed.body.text, /It is approved/);
    const edited = await chat.shows('the outcome', ({ id, edits }) => id === question.id && edits > 0);
    assert.match(edited.text, /^<b>Approved<\/b> by ann/);
    assert.deepEqual(edited.buttons, []);
    const { body } = await chat.ask('GET', '/v1/approvals');
    assert.deepEqual([body.data[0].status, body.data[0].decided_by], ['approved', 'ann']);
    assert.match(
      (await chat.hears(pressUpdate(question, 'Reject'))).body.text,
      /is already decided by ann at .*: approved/,
    );
  });

  it('change when they are decided elsewhere, and are asked where the channel says', async (t) => {
    const chat = await start(t, { approvals_to: { chat: '-500', thread: '3' } });
    await chat.pair('42', 'ann');
    await chat.hears(textUpdate('poke {"note":"x"}'));
    const question = await chat.shows('the question', ({ buttons }) => buttons.length > 0);
    assert.deepEqual([question.chat, question.thread], ['-500', 3]);
    const { body } = await chat.ask('GET', '/v1/approvals?status=pending');
    const path = `/v1/approvals/${body.data[0].id}/decision`;
    await chat.ask('POST', path, { body: { decision: 'reject', reason: 'not today' } });
    const edited = await chat.shows('the outcome', ({ id, edits }) => id === question.id && edits > 0);
    assert.match(edited.text, /^<b>Denied<\/b> by .*not today/);
  });

  it('that others have edited can only be rejected by the button that showed another call', async (t) => {
    const two = { key: 'two', model: 'rehearsal/follow', tools: { ask: [{ tool: 'poke', quorum: 2 }] } };
    const chat = await start(t, { approvals_to: { chat: '-500' }, approvals_for: ['two'] }, [two]);
    await chat.pair('42', 'ann');
    await chat.worker.say('pair', 'poke {"note":"x"}', { agent: 'two', user: 'ann' });
    const question = await chat.shows('the question', ({ buttons }) => buttons.length > 0);
    const { body } = await chat.ask('GET', '/v1/approvals?status=pending');
    const edit = { decision: 'edit', args: { note: 'y' }, digest: body.data[0].digest };
    const key = await chat.makeKey(['approve'], { user: 'carl' });
    const edited = await chat.ask('POST', `/v1/approvals/${body.data[0].id}/decision`, { body: edit, key });
    assert.equal(edited.status, 200, JSON.stringify(edited.body));
    const now = await chat.shows('that it was edited', ({ id, edits }) => id === question.id && edits > 0);
    assert.match(now.text, /edited since/);
    assert.doesNotMatch((await chat.hears(pressUpdate(question, 'Approve'))).body.text, /approved|Counted/);
    const { body: still } = await chat.ask('GET', '/v1/approvals?status=pending');
    assert.equal(still.data.length, 1);
  });

  it('a press is answered while no worker has time for it, and counts when one has', async (t) => {
    const chat = await start(t);
    await chat.pair('42', 'ann');
    await chat.hears(textUpdate('poke {"note":"x"}'));
    const question = await chat.shows('the question', ({ buttons }) => buttons.length > 0);
    Object.assign(chat.worker.temporal, { decide: () => new Promise(() => undefined) });
    const pressed = await chat.hears(pressUpdate(question, 'Approve'));
    assert.equal(pressed.body.text, 'It is on its way.');
    const overrides = await chat.shows('the outcome', ({ id, edits }) => id === question.id && edits > 0);
    assert.match(overrides.text, /^<b>Approved<\/b> by ann/);
  });

  it('are decided with a reason behind a link that whoever presses gets alone, as long as he may', async (t) => {
    const chat = await start(t, { approvals_to: { chat: '-500' }, approvals_for: ['main'] });
    await chat.pair('42', 'ann');
    await chat.pair('43', 'bob', false);
    await chat.hears(textUpdate('poke {"note":"x"}'));
    const question = await chat.shows('the question', ({ buttons }) => buttons.length > 0);
    assert.match((await chat.hears(pressUpdate(question, 'Say more', 43))).body.text, /may not decide/);
    assert.match((await chat.hears(pressUpdate(question, 'Say more'))).body.text, /direct message/);
    const message = await chat.shows('the link', ({ text }) => text.includes('/a/'));
    assert.equal(message.chat, '42');
    const [, path = ''] = /https:\/\/agents\.example\.com(\/a\/[\w-]+)/.exec(message.text) ?? [];
    const { rows } = await chat.pool.query('select post::text as kept from webhook_deliveries');
    assert.ok(rows.every(({ kept }) => !String(kept).includes(path.slice(3))));
    const open = () => fetch(chat.url + path);
    assert.match(await (await open()).text(), /You decide as <strong>ann/);
    await chat.pair('42', 'ann', false);
    assert.equal((await open()).status, 404);
    await chat.pair('42', 'ann');
    const [waits] = (await chat.ask('GET', '/v1/approvals?status=pending')).body.data;
    const body = new URLSearchParams({ decision: 'reject', digest: waits.digest, reason: 'not today' });
    const origin = chat.url;
    await fetch(chat.url + path, { method: 'POST', body, headers: { origin }, redirect: 'manual' });
    const overrides = await chat.shows('the outcome', ({ id, edits }) => id === question.id && edits > 0);
    assert.match(overrides.text, /^<b>Denied<\/b> by ann: not today/);
  });

  it('of a subagent are asked once, though the feed above it tells of them too', async (t) => {
    const chat = await start(t, { approvals_to: { chat: '-500' }, approvals_for: ['main'] });
    await chat.worker.say('above', 'spawn {"task":"poke {\\"note\\":\\"x\\"}"}');
    await chat.shows('the question', ({ buttons }) => buttons.length > 0);
    await chat.worker.until('all deliveries', async () => {
      const { body } = await chat.ask('GET', '/v1/channels/tg/deliveries?limit=100');
      const asking = body.data.filter(({ event }: any) => event === 'approval.requested');
      return asking.length === 2 && asking.every(({ status }: any) => status === 'delivered')
        ? true
        : undefined;
    });
    assert.equal(chat.telegram.messages.filter(({ buttons }) => buttons.length > 0).length, 1);
  });

  it('of an agent are asked in its channel wherever it works', async (t) => {
    const chat = await start(t, { approvals_to: { chat: '-500' }, approvals_for: ['main'] });
    await chat.worker.say('elsewhere', 'poke {"note":"x"}');
    const question = await chat.shows('the question', ({ buttons }) => buttons.length > 0);
    assert.equal(question.chat, '-500');
    assert.equal(chat.telegram.messages.length, 1);
  });
});
