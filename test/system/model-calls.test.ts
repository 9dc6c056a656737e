/**
 * F1: kill -9 of the workers at the beginning, in the middle and near the end of a model call, with the calls counted
 * where they arrive. Each turn is answered once, and no kill costs more than one call for each turn that it hit.
 */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sessionWorkflowId } from '#domain/ids.ts';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import type { Killable } from '#test/support/worker-process.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 3);
/** In each round; n is their product. */
const TURNS = 4;
const ANSWER_MS = 2_000;
/** Where in the call the kill comes. */
const POINTS = [0.1, 0.5, 0.9] as const;

interface ModelServer {
  readonly url: string;
  /** Calls whose newest message contains the token. */
  calls(token: string): number;
  close(): Promise<void>;
}

/** A slow server with OpenAI's chat protocol. */
async function startModelServer(): Promise<ModelServer> {
  const requests: string[] = [];
  const server: Server = createServer((request, response) => {
    void (async () => {
      requests.push(await text(request));
      const chunk = (delta: object, end: string | null): string =>
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: end }] })}\n\n`;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const word of ['Well', ', ', 'done', '.']) {
        await sleep(ANSWER_MS / 4);
        response.write(chunk({ role: 'assistant', content: word }, null));
      }
      response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls: (token) => requests.filter((body) => body.includes(`"${token}"`)).length,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('F1 kill -9 in model calls, counted at the model', { timeout: 600_000 }, () => {
  let stand: Stand;
  let model: ModelServer;
  const chance = createChance(seedOfRun());
  const accepted: Accepted[] = [];
  before(async () => {
    model = await startModelServer();
    stand = await createStand({
      workers: 2,
      settings: `models: { providers: { chat: { type: openai, api: chat, apiKey: planted, baseUrl: '${model.url}' } } }\n`,
      agents: [{ key: 'far', type: 'open', model: 'chat/gpt-4.1-mini' }],
    });
  });
  after(async () => {
    await stand?.close();
    await model?.close();
  });

  /** Says it in four sessions and waits until the model is asked in all of them. */
  async function begin(round: string): Promise<readonly Accepted[]> {
    const messages: Accepted[] = [];
    for (let n = 0; n < TURNS; n += 1) {
      const tenant = stand.tenants[n % 2] as Tenant;
      const token = `${tenant.id}-counted-${round}-${n}`;
      const turn = await stand.say(tenant, token, token, { text: token, agent: 'far' });
      messages.push({ tenant, session: token, turn, token });
    }
    accepted.push(...messages);
    await stand.until('the calls', async () =>
      messages.every(({ token }) => model.calls(token) > 0) ? true : undefined,
    );
    return messages;
  }

  /** A worker that waits for one of these answers. */
  async function workerOf(messages: readonly Accepted[]): Promise<Killable> {
    const client = await stand.client();
    return stand.until('a call that its worker has started', async () => {
      for (const { tenant, session } of messages) {
        const { raw } = await client.workflow.getHandle(sessionWorkflowId(tenant.id, session)).describe();
        const [identity] = raw.pendingActivities?.flatMap((call) => call.lastWorkerIdentity ?? []) ?? [];
        const worker = stand.workers.find(({ pid }) => identity?.startsWith(`${pid}@`));
        if (worker) return worker;
      }
      return undefined;
    });
  }

  /** How the attempts of model calls ended that did not answer. */
  async function failures(messages: readonly Accepted[]): Promise<readonly string[]> {
    const client = await stand.client();
    const found = await Promise.all(
      messages.map(async ({ tenant, session }) => {
        const { events } = await client.workflow
          .getHandle(sessionWorkflowId(tenant.id, session))
          .fetchHistory();
        return (events ?? []).flatMap(
          ({
            activityTaskTimedOutEventAttributes: late,
            activityTaskFailedEventAttributes: failed,
            ...event
          }) => {
            const failure =
              late?.failure ?? failed?.failure ?? event.activityTaskStartedEventAttributes?.lastFailure;
            return failure ? [failure.applicationFailureInfo?.type ?? failure.message ?? '?'] : [];
          },
        );
      }),
    );
    return found.flat();
  }

  async function oneRound(round: number): Promise<void> {
    const messages = await begin(String(round));
    const point = POINTS[round % POINTS.length] as number;
    await sleep(point * ANSWER_MS + chance.between(-50, 50));
    await Promise.all(stand.workers.map((worker) => worker.kill()));
    await Promise.all(stand.workers.map((worker) => worker.start()));
    await untilAllEnded(stand, messages);
  }

  it(`kills at 10, 50 and 90 % of a call, ${ROUNDS} rounds of ${TURNS} turns: one answer each, at most one call more`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    for (let round = 0; round < ROUNDS; round += 1) await oneRound(round);
    const calls = accepted.map(({ token }) => model.calls(token));
    t.diagnostic(`n = ${accepted.length} turns, ${calls.reduce((sum, count) => sum + count, 0)} model calls`);
    for (const [at, count] of calls.entries())
      assert.ok(count === 1 || count === 2, `${accepted[at]?.token}: ${count} calls`);
  });

  it('another worker starts the calls of a killed one again, and none waits for its heartbeats', async () => {
    const messages = await begin('killed');
    const lost = await workerOf(messages);
    await lost.kill();
    const T = Date.now();
    await untilAllEnded(stand, messages);
    console.log('ended', Date.now() - T);
    assert.deepEqual(new Set(await failures(messages)), new Set(['WorkerLost']));
    await lost.start();
  });

  it('and those of one that is suspended, whose answers come too late', async () => {
    const messages = await begin('suspended');
    const { pid } = await workerOf(messages);
    assert.ok(pid !== undefined);
    process.kill(pid, 'SIGSTOP');
    try {
      await untilAllEnded(stand, messages);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    assert.deepEqual(new Set(await failures(messages)), new Set(['WorkerLost']));
  });

  it('every turn completed with the whole answer, paid for once in its row', async () => {
    const { rows } = await stand.pool.query<{ status: string; text: string; steps: number }>(
      'select distinct status, text, steps from turns',
    );
    assert.deepEqual(rows, [{ status: 'completed', text: 'Well, done.', steps: 1 }]);
  });

  it('the witness finds I1–I6 kept', () => checkInvariants(stand, accepted));
});
