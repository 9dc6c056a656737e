import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { DISCORD, startDiscord } from './discord-server.ts';
import { SLACK, startSlack } from '#test/support/slack-server.ts';
import { startApi, type TestApiOptions } from '#test/support/stack.ts';
import { refusal, startTelegram, TOKEN } from '#test/support/telegram-server.ts';

const PUBLIC = { publicUrl: 'https://agents.example.com/' };

async function start(t: TestContext, options: TestApiOptions) {
  const api = await startApi(options);
  t.after(() => api.stop());
  return {
    ...api,
    async connect(type: string, settings: object) {
      const made = await api.ask('POST', '/v1/channels', {
        body: { key: 'ch', type, agent: 'main', settings },
      });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      return api.ask('POST', '/v1/channels/ch/connect', { body: {} });
    },
  };
}

const ADDRESS = 'https://agents.example.com/v1/channels/ch/inbound';

describe('IN-4 a channel is registered with its service', () => {
  it('Telegram is told where to call and by which secret, again as often as one likes', async (t) => {
    const telegram = await startTelegram(t);
    const api = await start(t, { settings: PUBLIC, services: { telegram: { baseUrl: telegram.url } } });
    const settings = { token: TOKEN, secret_token: 's', groups: 'all', username: 'other' };
    const { status, body } = await api.connect('telegram', settings);
    assert.deepEqual([status, body.account, body.done], [200, '@OurBot', [`Telegram calls ${ADDRESS}`]]);
    assert.deepEqual(
      body.todo.map((line: string) => line.split(' ').slice(0, 3).join(' ')),
      ['set settings.username to', 'turn privacy off'],
    );
    const again = await api.ask('POST', '/v1/channels/ch/connect', { body: {} });
    assert.deepEqual(again.body, body);
    const messages = telegram.calls.filter(({ method }) => method === 'setWebhook').map((call) => call.body);
    const once = { url: ADDRESS, secret_token: 's', allowed_updates: ['message', 'callback_query'] };
    assert.deepEqual(messages, [once, once]);
  });

  it('what the service says against it is told, without the token', async (t) => {
    const telegram = await startTelegram(t);
    const api = await start(t, { settings: PUBLIC, services: { telegram: { baseUrl: telegram.url } } });
    telegram.answer = ({ method }) =>
      method === 'setWebhook'
        ? refusal(400, 'Bad Request: bad webhook: HTTPS url must be provided')
        : undefined;
    const { body } = await api.connect('telegram', { token: TOKEN, secret_token: 's' });
    assert.deepEqual([body.account, body.done], ['@OurBot', []]);
    assert.match(body.todo[0], /HTTPS url must be provided: put it right and connect again/);
    assert.ok(!JSON.stringify(body).includes(TOKEN));
  });

  it('without an address of ours nothing is set, and it is said', async (t) => {
    const telegram = await startTelegram(t);
    const api = await start(t, { services: { telegram: { baseUrl: telegram.url } } });
    const { body } = await api.connect('telegram', { token: TOKEN, secret_token: 's', username: 'ourbot' });
    assert.deepEqual([body.account, body.todo.length], ['@OurBot', 1]);
    assert.match(body.todo[0], /set api\.publicUrl/);
    assert.deepEqual(
      telegram.calls.map(({ method }) => method),
      ['getMe'],
    );
  });

  it('Slack says who the bot is and which scopes it has not', async (t) => {
    const slack = await startSlack(t);
    slack.scopes = 'app_mentions:read,channels:history,chat:write,files:read,groups:history,im:history';
    const api = await start(t, { settings: PUBLIC, services: { slack: { baseUrl: slack.url } } });
    const { body } = await api.connect('slack', SLACK);
    assert.equal(body.account, 'agent in Ours');
    assert.match(body.todo[0], /scopes files:write,/);
    assert.ok(body.todo[1].includes(ADDRESS));
  });

  it('Discord gets its command and our address, and a wrong key is found', async (t) => {
    const discord = await startDiscord(t);
    const api = await start(t, { settings: PUBLIC, services: { discord: { baseUrl: discord.url } } });
    const { body } = await api.connect('discord', { ...DISCORD, public_key: '0'.repeat(64) });
    assert.equal(body.account, 'Our agent');
    assert.ok(body.todo[0].includes(DISCORD.public_key));
    assert.match(body.todo[1], /client_id=1&.*permissions=309237681152$/);
    const [, command, change] = discord.calls;
    assert.deepEqual([command?.line, command?.body.name], ['POST /applications/1/commands', 'ask']);
    assert.deepEqual(change, {
      line: 'PATCH /applications/@me',
      body: { interactions_endpoint_url: ADDRESS },
    });
  });

  it('a channel without a service is refused, and one that is not there is not found', async (t) => {
    const api = await start(t, {});
    assert.equal((await api.connect('web', {})).status, 422);
    assert.equal((await api.ask('POST', '/v1/channels/none/connect', { body: {} })).status, 404);
  });
});
