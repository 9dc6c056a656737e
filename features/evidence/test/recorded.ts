/** A stack with recorded turns of every kind, a superuser of its database, and exports of its chain. */
import assert from 'node:assert/strict';
import pg from 'pg';
import { type Stack, startStack } from '#test/support/stack.ts';
import { verifyEvidence, type Expected, type Verdict } from '../verify.ts';

export interface Recorded {
  readonly stack: Stack;
  /** Somebody with all rights in the database who is not TempoClaw. */
  readonly superuser: pg.Client;
  /** The lines of an export. */
  exported(): Promise<readonly string[]>;
  verified(expected?: Expected): Promise<Verdict>;
  /** Resolves when nothing waits for the chain. */
  settled(): Promise<void>;
  /** A turn that has ended. */
  say(session: string, text: string, agent?: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startRecorded(options: Parameters<typeof startStack>[0] = {}): Promise<Recorded> {
  const stack = await startStack({
    ...options,
    agents: [
      { key: 'asks', model: 'rehearsal/follow', tools: { ask: [{ tool: 'write_file' }] } },
      ...(options.agents ?? []),
    ],
  });
  const superuser = new pg.Client({
    connectionString: String(stack.pool.options.connectionString),
    application_name: 'psql',
  });
  await superuser.connect();
  const exported = async (): Promise<readonly string[]> => {
    const headers = { authorization: `Bearer ${stack.key}` };
    const answer = await fetch(`${stack.url}/v1/evidence/export`, { headers });
    assert.equal(answer.status, 200);
    return (await answer.text()).trimEnd().split('\n');
  };
  return {
    stack,
    superuser,
    exported,
    verified: async (expected) => verifyEvidence(await exported(), expected),
    settled: () =>
      stack.worker
        .until('the chain', async () =>
          (await stack.ask('GET', '/v1/evidence')).body.waiting === 0 ? true : undefined,
        )
        .then(() => undefined),
    async say(session, text, agent = 'main') {
      const { body } = await stack.ask('POST', `/v1/sessions/${session}/messages?wait=60`, {
        body: { text, agent },
      });
      assert.match(body.status, /completed|waiting_approval/, JSON.stringify(body));
      return body.turn_id;
    },
    async stop() {
      await superuser.end();
      await stack.stop();
    },
  };
}

/** Calls, approvals with decisions, a change of the policy, a revision: 20 entries and more. */
export async function recordWork({ stack, say }: Recorded, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const writes = `write_file ${JSON.stringify({ path: `${round}.md`, content: `text ${round}` })}`;
    await say(`work-${round}`, `${writes}\nthen\nread_file {"path":"${round}.md"}\nthen\ndatetime {}`);
    const asking = await say(`asks-${round}`, writes, 'asks');
    const approval = await stack.worker.approvalOf(`asks-${round}`);
    const decision = round % 2 === 0 ? 'approve' : 'reject';
    const decided = await stack.ask('POST', `/v1/approvals/${approval}/decision`, { body: { decision } });
    assert.equal(decided.status, 200, JSON.stringify(decided.body));
    // The call's entry is made when the call ends, which is after the decision.
    await stack.worker.ended(asking);
    await stack.ask('PUT', '/v1/policy', { body: { tools: { disabled: [`tool_${round}`] } } });
    await stack.ask('PATCH', '/v1/agents/asks', { body: { instructions: `Round ${round}` } });
    const change = { instructions: `Rolled out ${round}` };
    await stack.ask('POST', '/v1/rollouts', { body: { agent: 'asks', share: round, change } });
    const end = round % 2 === 0 ? 'finish' : 'back';
    const ended = await stack.ask('POST', `/v1/rollouts/asks/${end}`, { body: {} });
    assert.equal(ended.status, 200, JSON.stringify(ended.body));
  }
}
