/** A Telegram channel on this machine before the whole of TempoClaw, as people who write to its bot see it. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Answer, type Stack, startStack } from '#test/support/stack.ts';
import {
  startTelegram,
  type TelegramMessage,
  type TelegramServer,
  TOKEN,
} from '#test/support/telegram-server.ts';

const RETRIES = `[${Array.from({ length: 20 }, () => '0.05').join(', ')}]`;
export const SECRET = 'of-the-webhook';

export interface Chat extends Stack {
  readonly telegram: TelegramServer;
  /** Sends an update as the service does. */
  hears(update: object, options?: { readonly secret?: string; readonly channel?: string }): Promise<Answer>;
  pair(person: string, user: string, mayDecide?: boolean): Promise<void>;
  /** Resolves when the chat shows the expected message; a question, when its press would be known. */
  shows(what: string, expected: (message: TelegramMessage) => boolean): Promise<TelegramMessage>;
}

export async function startTelegramChat(
  t: TestContext,
  settings: object = {},
  agents: NonNullable<NonNullable<Parameters<typeof startStack>[0]>['agents']> = [],
  more = '',
  egress?: NonNullable<Parameters<typeof startStack>[0]>['egress'],
): Promise<Chat> {
  const telegram = await startTelegram(t);
  const stack = await startStack({
    settings: `webhooks: { retrySeconds: ${RETRIES} }\nchannels: { telegram: { baseUrl: "${telegram.url}" } }\napi: { publicUrl: "https://agents.example.com" }\n${more}`,
    agents: [{ key: 'other', model: 'rehearsal/follow' }, ...agents],
    ...(egress && { egress }),
  });
  t.after(() => stack.stop());
  const body = {
    key: 'tg',
    type: 'telegram',
    agent: 'main',
    settings: { token: TOKEN, secret_token: SECRET, username: 'ourbot', ...settings },
  };
  const made = await stack.ask('POST', '/v1/channels', { body });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return {
    ...stack,
    telegram,
    hears: (update, { secret = SECRET, channel = 'tg' } = {}) =>
      stack.ask('POST', `/v1/channels/${channel}/inbound?tenant=${stack.tenant}`, {
        key: null,
        body: update,
        headers: { 'x-telegram-bot-api-secret-token': secret },
      }),
    async pair(person, user, may_decide = true) {
      const paired = await stack.ask('POST', '/v1/channels/tg/pairings', {
        body: { person, user, may_decide },
      });
      assert.equal(paired.status, 200, JSON.stringify(paired.body));
    },
    shows: (what, expected) =>
      stack.worker.until(what, async () => {
        const message = telegram.messages.find(expected);
        if (!message || message.buttons.length === 0) return message;
        const { rows } = await stack.pool.query('select from channel_posts where message_id = $1', [
          String(message.id),
        ]);
        return rows.length > 0 ? message : undefined;
      }),
  };
}
