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
    assert.match((await chat.hears(pressUpdate(question, 'Reject'))).body.text, /was approved by ann/);
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

  it('of an agent are asked in its channel wherever it works', async (t) => {
    const chat = await start(t, { approvals_to: { chat: '-500' }, approvals_for: ['main'] });
    await chat.worker.say('elsewhere', 'poke {"note":"x"}');
    const question = await chat.shows('the question', ({ buttons }) => buttons.length > 0);
    assert.equal(question.chat, '-500');
    assert.equal(chat.telegram.messages.length, 1);
  });
});
