import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { writeMessage } from '#store/turns/message-store.ts';
import { announceDeliveries } from '#features/webhooks-out/index.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { createChance } from '#test/support/seeded.ts';
import type { Stack } from '#test/support/stack.ts';
import { SECRET, startTelegramChat as start } from '#test/support/telegram-chat.ts';
import { refusal, textUpdate } from '#test/support/telegram-server.ts';

async function messages({
  pool,
}: Stack): Promise<readonly { session_key: string; text: string; context: any }[]> {
  const { rows } = await pool.query(
    `select session_key, text, context from messages where role = 'user' order by created_at`,
  );
  return rows;
}

describe('IN-4 a Telegram channel', () => {
  it('answers each message once, though its service fails three times in ten', async (t) => {
    const chat = await start(t);
    const chance = createChance(11);
    chat.telegram.answer = () => (chance.between(1, 10) <= 3 ? refusal(502, 'Bad Gateway') : undefined);
    await chat.pair('42', 'ann');
    const requests = ['one', 'two', 'three'].map((word) => textUpdate(`word ${word}`));
    for (const update of requests) assert.equal((await chat.hears(update)).status, 200);
    for (const update of requests) assert.equal((await chat.hears(update)).status, 200);
    for (const word of ['one', 'two', 'three']) await chat.shows(word, ({ text }) => text.includes(word));
    await chat.worker.until('all deliveries', async () => {
      const { body } = await chat.ask('GET', '/v1/channels/tg/deliveries?status=pending');
      return body.data.length === 0 ? true : undefined;
    });
    assert.equal(chat.telegram.messages.length, 3);
    assert.ok(chat.telegram.messages.every(({ chat: place }) => place === '42'));
    assert.deepEqual(
      (await messages(chat)).map(({ session_key }) => session_key),
      ['tg:42', 'tg:42', 'tg:42'],
    );
    assert.equal((await messages(chat))[0]?.context.user, 'ann');
  });

  it('takes nothing that its service did not sign, nor for a channel that is off or not there', async (t) => {
    const chat = await start(t);
    assert.equal((await chat.hears(textUpdate('hello'), { secret: 'wrong' })).status, 401);
    assert.equal((await chat.hears(textUpdate('hello'), { channel: 'none' })).status, 401);
    const off = await chat.ask('PATCH', '/v1/channels/tg', { body: { enabled: false } });
    assert.equal(off.body.enabled, false, JSON.stringify(off.body));
    assert.equal((await chat.hears(textUpdate('hello'))).status, 401);
    assert.deepEqual(await messages(chat), []);
  });

  it('a schedule that was made in a chat may do what the person there may still do', async (t) => {
    const chat = await start(t);
    await chat.pair('42', 'ann');
    const job = {
      name: 'yearly',
      schedule: { kind: 'cron', expr: '0 3 1 1 *' },
      message: 'Happy new year',
      deliver: 'none',
      overlap: 'allow',
    };
    await chat.hears(textUpdate(`cron ${JSON.stringify({ action: 'add', job })}`));
    const id = await chat.worker.until('the schedule', async () => {
      const { body } = await chat.ask('GET', '/v1/schedules');
      return body.data[0]?.id as string | undefined;
    });
    const run = async (count: number): Promise<any> => {
      assert.equal((await chat.ask('POST', `/v1/schedules/${id}/run`, { body: {} })).status, 202);
      return chat.worker.until('the run', async () => {
        const { data } = (await chat.ask('GET', `/v1/schedules/${id}/runs`)).body;
        return data.length === count && ['completed', 'refused'].includes(data[0].status)
          ? data[0]
          : undefined;
      });
    };
    const rolesOf = async ({ session }: any): Promise<string[]> =>
      (await messages(chat)).find(({ session_key }) => session_key === session)?.context.roles;
    assert.deepEqual(await rolesOf(await run(1)), ['run', 'approve']);
    await chat.pair('42', 'ann', false);
    assert.deepEqual(await rolesOf(await run(2)), ['run']);
    assert.equal((await chat.ask('DELETE', '/v1/channels/tg/people/42')).status, 204);
    const { status, reason } = await run(3);
    assert.deepEqual([status, reason], ['refused', 'nobody of the channel tg is ann any more']);
    await chat.ask('PATCH', '/v1/channels/tg', { body: { settings: { people: 'open' } } });
    assert.equal((await run(4)).status, 'completed');
  });

  it('a heartbeat that is set again in another chat speaks there, by what that chat may', async (t) => {
    const chat = await start(t);
    await chat.pair('42', 'ann');
    const place = () =>
      chat.pool
        .query(`select session_key, rights ->> 'chat_id' as chat from schedules where heartbeat is not null`)
        .then(({ rows }) => rows[0]);
    const set = async (args: object, at: object, expected: string) => {
      await chat.hears(textUpdate(`heartbeat ${JSON.stringify(args)} @ourbot`, at));
      await chat.worker.until(`it in ${expected}`, async () =>
        (await place())?.session_key === expected ? true : undefined,
      );
      return place();
    };
    const group = { group: true, chat: -1001 };
    assert.deepEqual(await set({ action: 'set', interval: 600 }, {}, 'tg:42'), {
      session_key: 'tg:42',
      chat: '42',
    });
    const moved = { session_key: 'tg:-1001', chat: '-1001' };
    assert.deepEqual(await set({ action: 'set', interval: 900 }, group, 'tg:-1001'), moved);
  });

  it('gives a stranger a code and does nothing else, until somebody pairs him by it', async (t) => {
    const chat = await start(t);
    const met = await chat.hears(textUpdate('hi'));
    assert.equal(met.body.method, 'sendMessage');
    const [, code] = /pair tg (\w{8}) /.exec(met.body.text) ?? [];
    assert.deepEqual((await chat.hears(textUpdate('hi'))).body, {});
    await chat.pool.query(`update channel_pairings set notified_at = notified_at - interval '2 minutes'`);
    const again = await chat.hears(textUpdate('hi'));
    assert.match(again.body.text, new RegExp(`pair tg ${code} `));
    assert.deepEqual((await chat.hears(textUpdate('hi @ourbot', { group: true, chat: -100 }))).body, {});
    assert.deepEqual(await messages(chat), []);

    const wrong = await chat.ask('POST', '/v1/channels/tg/pairings', {
      body: { code: 'AAAAAAAA', user: 'ann' },
    });
    assert.equal(wrong.status, 422);
    const body = { code, user: 'ann' };
    const paired = await chat.ask('POST', '/v1/channels/tg/pairings', { body });
    assert.deepEqual(
      [paired.body.person, paired.body.name, paired.body.may_decide],
      ['42', 'Ann Lee', false],
    );
    assert.equal((await chat.ask('POST', '/v1/channels/tg/pairings', { body })).status, 422);
    await chat.hears(textUpdate('hi'));
    await chat.shows('the answer', ({ text }) => text === 'hi');
    const people = await chat.ask('GET', '/v1/channels/tg/people');
    assert.deepEqual(
      people.body.data.map(({ user }: { user: string }) => user),
      ['ann'],
    );
    assert.equal((await chat.ask('DELETE', '/v1/channels/tg/people/42')).status, 204);
    assert.match((await chat.hears(textUpdate('hi'))).body.text, /I do not know you/);
  });

  it('hears in groups what is said to it, in a session for each topic with the tools of that topic', async (t) => {
    const chat = await start(t, { topics: { '7': { allowed_tools: ['read_file'] } } });
    await chat.pair('42', 'ann');
    const group = { group: true, chat: -1001 };
    await chat.hears(textUpdate('nobody', group));
    await chat.hears(textUpdate('main @OurBot', { ...group, more: {} }));
    await chat.hears(textUpdate('@ourbot topic', { ...group, topic: 7 }));
    const reply = {
      reply_to_message: { message_id: 1, from: { id: 4711, is_bot: true, username: 'ourbot' } },
    };
    await chat.hears(textUpdate('answer', { ...group, more: reply }));
    await chat.shows('the topic', ({ text, thread }) => text === 'topic' && thread === 7);
    await chat.shows('the group', ({ text, thread }) => text === 'answer' && thread === undefined);
    const received = (await messages(chat)).map(({ session_key, text, context }) => [
      session_key,
      text,
      context.group,
    ]);
    assert.deepEqual(received, [
      ['tg:-1001', 'main', undefined],
      ['tg:-1001:7', 'topic', ['read_file']],
      ['tg:-1001', 'answer', undefined],
    ]);
  });

  it('marks what people say whom nobody has paired, where it is open to them', async (t) => {
    const chat = await start(t, { people: 'open' });
    const update = textUpdate('hi');
    await chat.hears(update);
    await chat.hears(update);
    const [message, ...others] = await messages(chat);
    assert.deepEqual(others, []);
    assert.match(message?.text ?? '', /^<<<EXTERNAL_UNTRUSTED_CONTENT id=\w{32} source=telegram:42>>>/);
    assert.equal(message?.context.user, 'tg:42');
  });

  it('takes a message as it was first written, though its words would be others now', async (t) => {
    const chat = await start(t);
    await chat.pair('42', 'ann');
    const update = textUpdate('late');
    const parts = [chat.tenant, 'tg', 'message', String(update.update_id)];
    const stem = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
    const context = { channel: 'tg', chat_id: '42', agent: 'main', user: 'ann', roles: ['run'] };
    const early = { id: `msg_${stem}`, session: 'tg:42', text: 'early', mode: null, context };
    await writeMessage(forTenant(chat.pool, chat.tenant), early);
    for (const _ of [1, 2]) assert.equal((await chat.hears(update)).status, 200);
    await chat.shows('the answer', ({ text }) => text.includes('early'));
    assert.equal((await messages(chat)).length, 1);
  });

  it('says what it says beside its answers one after the other', async (t) => {
    const chat = await start(t);
    const { rows } = await chat.pool.query<{ webhook_id: string }>('select webhook_id from channels');
    const words = ['one', 'two', 'three'];
    // All exist before any is sent.
    await chat.pool.query(
      `insert into webhook_deliveries (tenant_id, id, webhook_id, session_key, event_id, event, post)
       select $1, 'msg_' || (9 - at), $2, 's', 0, 'channel.post', jsonb_build_object('place', '{"chat": "42"}'::jsonb, 'markdown', word)
       from unnest($3::text[]) with ordinality as said (word, at) order by at`,
      [chat.tenant, rows[0]?.webhook_id, words],
    );
    await announceDeliveries(chat.pool);
    await chat.shows('the last', ({ text }) => text === 'three');
    assert.deepEqual(
      chat.telegram.messages.map(({ text }) => text),
      words,
    );
  });

  it('waits as long as its service says when there was too much', async (t) => {
    const chat = await start(t);
    await chat.pair('42', 'ann');
    const refused: number[] = [];
    chat.telegram.answer = ({ method }) => {
      if (method !== 'sendMessage' || refused.length > 0) return undefined;
      refused.push(Date.now());
      return refusal(429, 'Too Many Requests: retry after 1', { retry_after: 1 });
    };
    await chat.hears(textUpdate('hi'));
    await chat.shows('the answer', ({ text }) => text === 'hi');
    // Our own wait would have been a twentieth of it.
    assert.ok(Date.now() - (refused[0] ?? 0) >= 1_000);
  });

  it('sends of a long answer again only the part whose arrival was not heard of', async (t) => {
    const chat = await start(t);
    await chat.pair('42', 'ann');
    let sent = 0;
    chat.telegram.loses = ({ method }) => method === 'sendMessage' && (sent += 1) === 2;
    const words = (letter: string) => `${letter.repeat(9)} `.repeat(390).trim();
    await chat.hears(textUpdate([words('a'), words('b'), words('c')].join('\n\n')));
    await chat.shows('the last part', ({ text }) => text.startsWith('ccc'));
    assert.deepEqual(
      chat.telegram.messages.map(({ text }) => text[0]),
      ['a', 'b', 'b', 'c'],
    );
    assert.deepEqual(
      chat.telegram.messages.map(({ text }) =>
        text.endsWith('(Sent again: whether it arrived before is not known.)'),
      ),
      [false, false, true, false],
    );
  });

  it('answers in the supergroup that its group has become', async (t) => {
    const chat = await start(t);
    await chat.pair('42', 'ann');
    chat.telegram.answer = ({ body }) =>
      String(body.chat_id) === '-5'
        ? {
            status: 400,
            body: {
              ok: false,
              error_code: 400,
              description: 'Bad Request: group chat was upgraded to a supergroup chat',
              parameters: { migrate_to_chat_id: -1005 },
            },
          }
        : undefined;
    await chat.hears(textUpdate('@OurBot moved', { group: true, chat: -5 }));
    const { chat: place } = await chat.shows('the answer', ({ text }) => text.includes('moved'));
    assert.equal(place, '-1005');
  });

  it('is where a conversation goes on that is handed over, each topic for itself', async (t) => {
    const chat = await start(t);
    await chat.pair('42', 'ann');
    await chat.ask('POST', '/v1/agent-links', { body: { source: 'main', target: 'other' } });
    const group = { group: true, chat: -1001 };
    await chat.hears(
      textUpdate('handoff {"agent":"other","reason":"knows"} @ourbot', { ...group, topic: 7 }),
    );
    await chat.worker.until('the route', async () => {
      const { body } = await chat.ask('GET', '/v1/handoffs');
      return body.data[0]?.chat_id === '-1001/7' ? true : undefined;
    });
    await chat.hears(textUpdate('for the other @ourbot', { ...group, topic: 7 }));
    await chat.hears(textUpdate('for the first @ourbot', group));
    await chat.shows('the other', ({ text, thread }) => text === 'for the other' && thread === 7);
    await chat.shows('the first', ({ text, thread }) => text === 'for the first' && thread === undefined);
    const message = (await messages(chat)).find(({ text }) => text === 'for the other');
    assert.match(message?.session_key ?? '', /^handoff:/);
  });

  it('is written to by the tool message once, and only where its user may be', async (t) => {
    const chat = await start(t, { targets: ['-7'] });
    await chat.pair('42', 'ann');
    const say = (args: object) => chat.hears(textUpdate(`message ${JSON.stringify(args)}`));
    await say({ message: 'Working on it' });
    await chat.shows('the message', ({ text }) => text === 'Working on it');
    const elsewhere = { message: 'Hello there', forward: true, forward_reason: 'asked to' };
    await say({ ...elsewhere, target: '-8' });
    await chat.shows('the refusal', ({ text }) => text.includes('no chat of ann'));
    await say({ ...elsewhere, target: '-7' });
    await chat.shows('it elsewhere', ({ text, chat: place }) => text === 'Hello there' && place === '-7');
    await chat.hears(textUpdate('create_forum_topic {"chat_id":"-7","name":"Tea"}'));
    await chat.shows('the topic', ({ text }) => text.includes('-7/7'));
    assert.equal(chat.telegram.messages.filter(({ text }) => text === 'Working on it').length, 1);
    assert.equal(chat.telegram.calls.filter(({ method }) => method === 'createForumTopic').length, 1);
  });

  it('shows its credentials to nobody, and what it was told', async (t) => {
    const chat = await start(t);
    const shown = await chat.ask('GET', '/v1/channels/tg');
    assert.deepEqual(shown.body.credentials, ['token', 'secret_token']);
    assert.ok(!JSON.stringify(shown.body).includes(SECRET));
    assert.deepEqual((await chat.ask('GET', '/v1/webhooks')).body.data, []);
    const good = { token: 'x', secret_token: 'x' };
    for (const settings of [
      {},
      { token: 'secret://NONE', secret_token: 'x' },
      { ...good, signing_secret: 'y' },
      { ...good, secret_token: 'two words' },
    ]) {
      const body = { key: 'x', type: 'telegram', settings };
      assert.equal((await chat.ask('POST', '/v1/channels', { body })).status, 422);
    }
    const unsigned = { key: 'x', type: 'discord', settings: { token: 'x', public_key: 'of-the-bot' } };
    const { body: refused } = await chat.ask('POST', '/v1/channels', { body: unsigned });
    assert.equal(refused.detail, 'body/settings/public_key: must be 64 hexadecimal digits');
    const ghost = { key: 'x', type: 'telegram', agent: 'ghost', settings: good };
    assert.equal((await chat.ask('POST', '/v1/channels', { body: ghost })).status, 422);
    const change = { settings: { groups: 'some' } };
    const wrong = await chat.ask('PATCH', '/v1/channels/tg', { body: change });
    assert.deepEqual([wrong.status, wrong.body.errors[0].pointer], [422, 'body/settings/groups']);
    const nobody = await chat.ask('DELETE', '/v1/channels/tg/people/43');
    assert.match(nobody.body.detail, /Nobody is paired by the id 43/);
    assert.equal((await chat.ask('DELETE', '/v1/channels/tg')).status, 204);
    for (const path of ['tg', 'no%20key', '%00', '%00/people', 'no%20key/deliveries'])
      assert.equal((await chat.ask('GET', `/v1/channels/${path}`)).status, 404, path);
  });

  it('of a page’s own narrows what its server says there, and says nothing when it is off', async (t) => {
    const chat = await start(t);
    const settings = { topics: { '7': { allowed_tools: ['read_file'] } }, allowed_tools: ['web_*'] };
    const page = { key: 'page', type: 'web', agent: 'other', settings };
    assert.equal((await chat.ask('POST', '/v1/channels', { body: page })).status, 201);
    const say = (chat_id: string) =>
      chat.ask('POST', `/v1/sessions/page-${chat_id}/messages`, {
        body: { text: 'say hi', channel: 'page', chat_id },
      });
    assert.deepEqual([(await say('7')).status, (await say('8')).status], [202, 202]);
    assert.deepEqual(
      (await messages(chat)).map(({ context }) => [context.agent, context.group]),
      [
        ['other', ['read_file']],
        ['other', ['web_*']],
      ],
    );
    await chat.ask('PATCH', '/v1/channels/page', { body: { enabled: false } });
    assert.equal((await say('7')).status, 403);
  });

  it('takes no name that sessions have as a label: their answers would be posted', async (t) => {
    const chat = await start(t);
    const answer = await chat.ask('POST', '/v1/sessions/labelled/messages', {
      body: { text: 'say hi', channel: 'desk', chat_id: '-100' },
    });
    assert.equal(answer.status, 202, JSON.stringify(answer.body));
    const made = await chat.ask('POST', '/v1/channels', {
      body: { key: 'desk', type: 'web', agent: 'main' },
    });
    assert.equal(made.status, 409);
    assert.match(made.body.detail, /name desk as their channel already/);
  });

  it('cannot be spoken in over the API by a key of a user', async (t) => {
    const chat = await start(t);
    const key = await chat.makeKey(['run'], { user: 'bob' });
    const body = { text: 'hi', channel: 'tg', chat_id: '42' };
    assert.equal((await chat.ask('POST', '/v1/sessions/mine/messages', { key, body })).status, 403);
  });
});
