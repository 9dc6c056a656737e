/** DU-11, IN-11: a turn that is held does not hang without a word: each protocol that can say so does. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Role } from '@a2a-js/sdk';
import { ClientFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { HttpAgent } from '@ag-ui/client';
import { EventType } from '@ag-ui/core';
import { DefaultChatTransport, type UIMessage } from 'ai';
import { createSessionUpdates } from '#features/acp/session-updates.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const REASON = 'prices are wrong';
const WORDS = `Held back until it is lifted: ${REASON}`;

describe('DU-11 a held turn, in the protocols of clients', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  /** Holds all calls until the stream has said so, and then lets the turn end. */
  async function held(stream: (lift: () => Promise<void>) => Promise<void>): Promise<void> {
    const { body } = await stack.ask('POST', '/v1/freezes', { body: { reason: REASON } });
    let isLifted = false;
    const lift = async (): Promise<void> => {
      if (!isLifted) await stack.ask('POST', `/v1/freezes/${body.id}/lift`, { body: {} });
      isLifted = true;
    };
    try {
      await stream(lift);
      assert.ok(isLifted, 'the stream said nothing of it');
    } finally {
      await lift();
    }
  }

  it('is a custom event of AG-UI', () =>
    held(async (lift) => {
      const agent = new HttpAgent({
        url: `${stack.url}/v1/ag-ui/main`,
        threadId: 'held-ag-ui',
        headers: { authorization: `Bearer ${stack.key}` },
      });
      agent.subscribe({
        onEvent: async ({ event }) => {
          if (event.type !== EventType.CUSTOM) return;
          assert.partialDeepStrictEqual(event, { name: 'turn.held', value: { reason: REASON } });
          await lift();
        },
      });
      agent.addMessage({ id: 'u1', role: 'user', content: 'hello' });
      await agent.runAgent();
    }));

  it('is a data part for the AI SDK', () =>
    held(async (lift) => {
      const transport = new DefaultChatTransport<UIMessage>({
        api: `${stack.url}/v1/ui/main`,
        headers: { authorization: `Bearer ${stack.key}` },
      });
      const stream = await transport.sendMessages({
        chatId: 'held-ui',
        messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
        trigger: 'submit-message',
        messageId: undefined,
        abortSignal: undefined,
      });
      for await (const chunk of stream) {
        if (!chunk.type.startsWith('data-')) continue;
        assert.partialDeepStrictEqual(chunk, {
          type: 'data-held',
          data: { reason: REASON },
          transient: true,
        });
        await lift();
      }
    }));

  it('is a message of the working task of A2A', () =>
    held(async (lift) => {
      const fetchImpl: typeof fetch = (url, init) =>
        fetch(url, { ...init, headers: { ...init?.headers, authorization: `Bearer ${stack.key}` } });
      const factory = new ClientFactory({
        transports: [new RestTransportFactory({ fetchImpl })],
        preferredTransports: ['HTTP+JSON'],
      });
      const client = await factory.createFromUrl(`${stack.url}/v1/a2a/main/`);
      const message = {
        messageId: 'm1',
        contextId: '',
        taskId: '',
        role: Role.ROLE_USER,
        parts: [
          {
            content: { $case: 'text' as const, value: 'hello' },
            metadata: undefined,
            filename: '',
            mediaType: '',
          },
        ],
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      };
      for await (const { payload } of client.sendMessageStream({
        tenant: '',
        message,
        configuration: undefined,
        metadata: undefined,
      })) {
        if (payload?.$case !== 'statusUpdate') continue;
        const words = payload.value.status?.message?.parts.map(({ content }) => content?.value) ?? [];
        if (words.includes(WORDS)) await lift();
      }
    }));

  it('is a thought for editors that speak ACP', () => {
    const event = {
      id: 1,
      type: 'turn.held' as const,
      turn_id: 'turn_1',
      data: { freeze_id: 'f', reason: REASON },
      created_at: new Date(),
    };
    assert.partialDeepStrictEqual(createSessionUpdates(new Map())(event as never), [
      { sessionUpdate: 'agent_thought_chunk', content: { text: WORDS } },
    ]);
  });
});
