import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startTelegramChat as start, type Chat } from '#test/support/telegram-chat.ts';
import { refusal, textUpdate } from '#test/support/telegram-server.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

interface Heard {
  readonly text: string;
  readonly attachments: readonly {
    readonly artifact: string;
    readonly type: string;
    readonly width: number | null;
  }[];
}

async function heard({ pool }: Chat): Promise<readonly Heard[]> {
  const { rows } = await pool.query<Heard>(
    `select text, attachments from messages where role = 'user' order by created_at`,
  );
  return rows;
}

const isOver = (chat: Chat) =>
  chat.worker.until('all deliveries', async () => {
    const { body } = await chat.ask('GET', '/v1/channels/tg/deliveries?status=pending');
    return body.data.length === 0 ? true : undefined;
  });

describe('IN-4 files of a chat', () => {
  it('a photo is kept for its user and shown to the model, once however often it is told', async (t) => {
    const chat = await start(t);
    await chat.pair('42', 'ann');
    chat.telegram.files.set('large', PNG);
    let failed = 0;
    chat.telegram.answer = ({ method }) =>
      method === 'getFile' && (failed += 1) <= 2 ? refusal(502, 'Bad Gateway') : undefined;
    const photo = [{ file_id: 'small' }, { file_id: 'large', file_size: PNG.length }];
    const update = textUpdate('', { more: { caption: 'echo Look', photo } });
    for (const _ of [1, 2]) assert.equal((await chat.hears(update)).status, 200);
    await chat.shows('the answer', ({ text }) => text.includes('Look'));
    await chat.hears(update);
    await isOver(chat);
    const [message, ...others] = await heard(chat);
    assert.deepEqual(others, []);
    const [attached] = message?.attachments ?? [];
    assert.deepEqual([attached?.type, attached?.width], ['image/png', 1]);
    assert.match(
      message?.text ?? '',
      /^echo Look\n<<<EXTERNAL.* source=telegram:42>>>\n.*\n\[attached: artifact:art_/,
    );
    const { rows } = await chat.pool.query('select user_id, filename from artifacts');
    assert.deepEqual(rows, [{ user_id: 'ann', filename: null }]);
    assert.equal(chat.telegram.calls.filter(({ method }) => method === 'getFile').length, 3);
  });

  it('an album is one message, whichever of its parts comes first and however often', async (t) => {
    const chat = await start(t, { groups: 'mention' });
    await chat.pair('42', 'ann');
    for (const name of ['one', 'two', 'three'])
      chat.telegram.files.set(name, Buffer.from(`${name} of three`));
    const group = { chat: { id: -7, type: 'group' } };
    const [one, two, three] = ['one', 'two', 'three'].map((name) =>
      textUpdate('', {
        more: {
          ...group,
          media_group_id: '900',
          document: { file_id: name, file_name: `${name}.txt` },
          ...(name === 'two' && { caption: '@ourbot echo Look' }),
        },
      }),
    );
    for (const update of [three, one, two, one]) assert.equal((await chat.hears(update ?? {})).status, 200);
    await chat.shows('the answer', ({ text }) => text.includes('Look'));
    const other = (id: string) =>
      textUpdate('', { more: { ...group, media_group_id: '901', document: { file_id: id } } });
    for (const name of ['one', 'two']) await chat.hears(other(name));
    await chat.hears(three ?? {});
    await isOver(chat);
    const lines = await heard(chat);
    assert.equal(lines.length, 1, JSON.stringify(lines));
    const names = [...(lines[0]?.text ?? '').matchAll(/art_\w+ (\w+)\.txt/g)].map(([, name]) => name);
    assert.deepEqual(names, ['one', 'two', 'three']);
    assert.match(lines[0]?.text ?? '', /^echo Look\n/);
    const { rows } = await chat.pool.query(
      `select from webhook_deliveries where post::text like '%"901"%' or post -> 'waiting' -> 'files' @> '[{"source":"two"}]'
        and not post -> 'waiting' -> 'files' @> '[{"source":"three"}]'`,
    );
    assert.equal(rows.length, 0, 'what nobody asked the bot about is not kept');
  });

  it('what is too large or gone is told to both, and what came with it is taken', async (t) => {
    const chat = await start(t);
    await chat.pair('42', 'ann');
    chat.telegram.files.set('plan', Buffer.from('Buy tea'));
    const document = { file_id: 'plan', file_name: '../plan.txt', mime_type: 'image/png' };
    const video = { file_id: 'film', file_name: 'film.mp4', file_size: 20_000_001 };
    const voice = { file_id: 'none', mime_type: 'audio/ogg' };
    await chat.hears(textUpdate('', { more: { document, video, voice } }));
    const words = await chat.shows('what is missing', ({ text }) => text.includes('I could not take'));
    assert.match(words.text, /film\.mp4: it has more than 20 MB/);
    assert.match(words.text, /the file: Telegram: Bad Request: invalid file/);
    await isOver(chat);
    const [message] = await heard(chat);
    assert.match(message?.text ?? '', /\[attached: artifact:art_\w+ plan\.txt, text\/plain, 7 bytes\]/);
    assert.match(message?.text ?? '', /\[sent along, but not taken: film\.mp4: it has more than 20 MB\]/);
    assert.deepEqual(
      message?.attachments.map(({ type }) => type),
      ['text/plain'],
    );
  });

  it('nothing of a stranger’s is fetched', async (t) => {
    const chat = await start(t);
    chat.telegram.files.set('f', PNG);
    const met = await chat.hears(textUpdate('', { more: { photo: [{ file_id: 'f' }] } }));
    assert.match(met.body.text, /pair tg/);
    assert.deepEqual(chat.telegram.calls, []);
    assert.deepEqual(await heard(chat), []);
  });

  it('are sent by the tool message from the workspace, and by an answer that links to them; a repeated one says so', async (t) => {
    const chat = await start(t);
    await chat.pair('42', 'ann');
    await chat.hears(textUpdate('write_file {"path":"plan.txt","content":"Buy tea"}'));
    await chat.shows('the file', ({ text }) => text.includes('plan.txt'));
    await chat.hears(textUpdate('message {"message":"Here","media":["plan.txt"]}'));
    const sent = await chat.shows('it', ({ document }) => document !== undefined);
    assert.deepEqual([sent.document?.name, String(sent.document?.bytes)], ['plan.txt', 'Buy tea']);
    const { rows } = await chat.pool.query<{ id: string }>('select id from artifacts');
    await isOver(chat);
    const before = chat.telegram.messages.length;
    let lost = 0;
    chat.telegram.loses = ({ method, body }) =>
      method === 'sendMessage' && String(body.text).startsWith('Again') && (lost += 1) === 1;
    await chat.hears(
      textUpdate(`Again: [the plan](artifact:${rows[0]?.id}) and [x](artifact:art_${'0'.repeat(32)})`),
    );
    await chat.shows('what is not there', ({ text }) => text.startsWith('There is no artifact:art_000'));
    await isOver(chat);
    const lines = chat.telegram.messages.slice(before).map(({ text, document }) => document?.name ?? text);
    // Its answer was lost, and Telegram has no idempotency keys.
    const [again, file] = lines.slice(-3, -1);
    assert.match(again ?? '', /^Again: the plan and x\n\n\(Sent again: /);
    assert.equal(file, 'plan.txt');
    assert.equal(lines.filter((one) => one === 'plan.txt').length, 1);
  });

  it('a file that the service refuses for minutes is told in words, and what is behind it goes on', async (t) => {
    const chat = await start(t);
    await chat.pair('42', 'ann');
    chat.telegram.answer = ({ method }) =>
      method === 'sendDocument' ? refusal(413, 'Request Entity Too Large') : undefined;
    await chat.hears(textUpdate('write_file {"path":"plan.txt","content":"Buy tea"}'));
    await chat.shows('the file', ({ text }) => text.includes('plan.txt'));
    await chat.hears(textUpdate('message {"message":"Here","media":["plan.txt"]}'));
    await chat.shows('why not', ({ text }) => text.startsWith('plan.txt could not be sent: Telegram:'));
    await isOver(chat);
    const tries = chat.telegram.calls.filter(({ method }) => method === 'sendDocument').length;
    assert.ok(tries <= 8, `${tries} tries`);
  });

  it('a message with files to an agent that is gone is answered, and kept by nobody', async (t) => {
    const chat = await start(t);
    await chat.pair('42', 'ann');
    chat.telegram.files.set('f', PNG);
    assert.equal((await chat.ask('PATCH', '/v1/channels/tg', { body: { agent: 'other' } })).status, 200);
    const gone = await chat.ask('DELETE', '/v1/agents/other');
    assert.equal(gone.status, 204, JSON.stringify(gone.body));
    await chat.hears(textUpdate('', { more: { photo: [{ file_id: 'f' }] } }));
    await chat.shows('what became of it', ({ text }) => text.startsWith('That was not taken:'));
    assert.deepEqual(await heard(chat), []);
  });

  it('a file with a secret in it is not sent', async (t) => {
    const chat = await start(t);
    await chat.pair('42', 'ann');
    await chat.hears(textUpdate('write_file {"path":"app.env","content":"nothing"}'));
    await chat.shows('the file', ({ text }) => text.includes('app.env'));
    const root = chat.worker.workspaceRoot;
    const path = (await readdir(root, { recursive: true })).find((name) => name.endsWith('app.env'));
    await writeFile(join(root, path ?? ''), `TOKEN=ghp_${'Ab1'.repeat(12)}`);
    await chat.hears(textUpdate('message {"message":"Here","media":["app.env"]}'));
    await chat.shows('the refusal', ({ text }) => text.includes('holds what no chat is told'));
    assert.ok(chat.telegram.messages.every(({ document }) => document === undefined));
  });
});
