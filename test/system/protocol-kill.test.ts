/**
 * IN-3, IN-11: kill -9 of the worker and of the API while an answer streams by each protocol. The client that sends its
 * request again ends with the answer, and the agent has answered once.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import type { Killable } from '#test/support/worker-process.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';

interface Protocol {
  readonly path: string;
  /** `id` is the client's, the same when it sends the request again. */
  body(id: string, text: string): object;
  readonly headers?: (id: string) => Record<string, string>;
  /** The answer in the data of the stream, as far as it came; undefined before the protocol's own end. */
  answerOf(data: readonly any[]): string | undefined;
}

const AGENT = 'slow';

/** Texts of the last message that begins in the stream. */
function lastText(data: readonly any[], start: string, delta: string): string {
  const from = data.findLastIndex(({ type }) => type === start);
  return data
    .slice(from)
    .map((one) => (one.type === delta ? one.delta : ''))
    .join('');
}

const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  'chat completions': {
    path: '/v1/chat/completions',
    headers: (id) => ({ 'idempotency-key': id }),
    body: (_id, text) => ({ model: AGENT, stream: true, messages: [{ role: 'user', content: text }] }),
    answerOf: (data) =>
      data.some(({ choices }) => choices?.[0]?.finish_reason === 'stop')
        ? data.map(({ choices }) => choices?.[0]?.delta?.content ?? '').join('')
        : undefined,
  },
  responses: {
    path: '/v1/responses',
    headers: (id) => ({ 'idempotency-key': id }),
    body: (_id, text) => ({ model: AGENT, stream: true, input: text }),
    answerOf: (data) =>
      data
        .find(({ type }) => type === 'response.completed')
        ?.response.output.flatMap(({ content = [] }: any) => content.map(({ text }: any) => text))
        .join(''),
  },
  'ui stream': {
    path: `/v1/ui/${AGENT}`,
    body: (id, text) => ({
      id,
      messages: [{ id: `u-${id}`, role: 'user', parts: [{ type: 'text', text }] }],
    }),
    answerOf: (data) =>
      data.some(({ type }) => type === 'finish') ? lastText(data, 'text-start', 'text-delta') : undefined,
  },
  'ag-ui': {
    path: `/v1/ag-ui/${AGENT}`,
    body: (id, text) => ({ threadId: id, runId: id, messages: [{ id: 'u', role: 'user', content: text }] }),
    answerOf: (data) =>
      data.some(({ type }) => type === 'RUN_FINISHED')
        ? lastText(data, 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT')
        : undefined,
  },
  langgraph: {
    path: '/v1/langgraph/runs/stream',
    headers: (id) => ({ 'idempotency-key': id }),
    body: (_id, text) => ({ assistant_id: AGENT, input: { messages: [{ role: 'user', content: text }] } }),
    // The state shows the answer when it is whole.
    answerOf: (data) => data.at(-1)?.messages?.find(({ type }: any) => type === 'ai')?.content,
  },
  a2a: {
    path: `/v1/a2a/${AGENT}/message:stream`,
    headers: () => ({ 'a2a-version': '1.0' }),
    body: (id, text) => ({ message: { messageId: id, role: 'ROLE_USER', parts: [{ text }] } }),
    // A task that is over when the client comes again is one event.
    answerOf: (data) => {
      const isOver = ({ status }: any): boolean => status?.state === 'TASK_STATE_COMPLETED';
      const whole = data.find(({ task }) => task && isOver(task))?.task.artifacts[0];
      const last = data.findLast(({ artifactUpdate }) => artifactUpdate)?.artifactUpdate.artifact;
      const artifact = data.some(({ statusUpdate }) => isOver(statusUpdate ?? {})) ? last : whole;
      return artifact?.parts.map(({ text }: any) => text).join('');
    },
  },
};

describe('F3 IN-11 streams of protocols under kill -9', { timeout: 900_000 }, () => {
  let stand: Stand;
  let tenant: Tenant;
  const chance = createChance(seedOfRun());
  before(async () => {
    stand = await createStand({
      workers: 1,
      agents: [{ key: AGENT, type: 'open', model: 'rehearsal/stream' }],
    });
    tenant = stand.tenants[0];
  });
  after(() => stand?.close());

  /** Sends the request once, and reads the stream as far as it comes; `onText` when the answer grows. */
  async function read(
    protocol: Protocol,
    id: string,
    text: string,
    onText: () => void,
  ): Promise<string | undefined> {
    let raw = '';
    try {
      const answer = await fetch(`${stand.apiUrl}${protocol.path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${tenant.key}`,
          'content-type': 'application/json',
          accept: 'text/event-stream',
          ...protocol.headers?.(id),
        },
        body: JSON.stringify(protocol.body(id, text)),
      });
      // A busy server says when to come again.
      if (answer.status === 503) return undefined;
      assert.equal(answer.status, 200, await (answer.ok ? '' : answer.text()));
      const decoder = new TextDecoder();
      for await (const chunk of answer.body ?? []) {
        raw += decoder.decode(chunk, { stream: true });
        if (raw.includes('word')) onText();
      }
    } catch (error) {
      // The connection of a killed server ends.
      if (error instanceof assert.AssertionError) throw error;
    }
    const lines = raw.split('\n').filter((line) => line.startsWith('data: {') && line.endsWith('}'));
    return protocol.answerOf(lines.map((line) => JSON.parse(line.slice('data: '.length))));
  }

  async function answerAfterKill(protocol: Protocol, id: string, text: string, victim: Killable) {
    let killed: Promise<void> | undefined;
    const kill = async (): Promise<void> => {
      await sleep(chance.between(0, 500));
      await victim.kill();
      await victim.start();
    };
    const onText = (): void => {
      killed ??= kill();
    };
    for (;;) {
      const answer = await read(protocol, id, text, onText);
      if (answer !== undefined) {
        await killed;
        return { answer, wasKilled: killed !== undefined };
      }
      await sleep(200);
    }
  }

  for (const [name, protocol] of Object.entries(PROTOCOLS))
    for (const victim of ['worker', 'api'] as const)
      it(`${name}: the ${victim} is killed while the answer streams`, async () => {
        const id = `${name.replace(' ', '-')}-${victim}`;
        const text = `ms=60 ${'word '.repeat(30)}of ${id}`;
        const [worker] = stand.workers;
        assert.ok(worker);
        const killed = victim === 'api' ? stand.api : worker;
        const { answer, wasKilled } = await answerAfterKill(protocol, id, text, killed);
        assert.ok(wasKilled);
        assert.ok(answer.endsWith(text), answer);
        const { rows } = await stand.pool.query(
          `select t.status, t.text from messages m join turns t on t.tenant_id = m.tenant_id and t.id = m.turn_id
           where m.tenant_id = $1 and m.role = 'user' and m.text = $2`,
          [tenant.id, text],
        );
        assert.deepEqual(rows, [{ status: 'completed', text }]);
      });
});
