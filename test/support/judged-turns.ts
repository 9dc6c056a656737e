/** Turns of a model that obeys what it reads, under `careful`, and how their calls were judged. */
import assert from 'node:assert/strict';
import { type Stack, startStack } from './stack.ts';

/** Reads something from outside. */
export const PAGE = 'page {}';

/** Addresses are spelled so that the user has not written them. */
export function tool(name: string, args: object): string {
  return `${name} ${JSON.stringify(args).replaceAll('http:', '\\u0068ttp:')}`;
}

export interface Judged {
  readonly tool: string;
  readonly verdict: string;
  readonly reason: string | null;
  readonly ok: boolean | null;
  readonly session: string;
}

export interface JudgedTurns {
  readonly stack: Stack;
  /** The calls of a turn as they were judged; people refuse all of its approvals. */
  say(
    session: string,
    text: string,
    more?: { readonly agent?: string; readonly user?: string },
  ): Promise<readonly Judged[]>;
}

export async function startJudgedTurns(): Promise<JudgedTurns> {
  const stack = await startStack({
    settings: `tools: ${JSON.stringify({ profile: 'careful' })}\n`,
    agents: [
      { key: 'main' },
      { key: 'bold', exec: { security: 'full', ask: 'off' } },
      { key: 'strict', tools: { rules: [{ tool: 'datetime', after: ['page'], decision: 'deny' }] } },
    ],
  });
  for (const [name, replay] of [
    ['page', 'readonly'],
    ['send', 'once'],
  ]) {
    const body = { name, replay, command: 'echo done' };
    const made = await stack.ask('POST', '/v1/tools/custom', { body });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  }
  await stack.worker.ended((await stack.worker.say('sink', 'Hello.')).turn_id);
  return {
    stack,
    async say(session, text, more = {}) {
      const { turn_id } = await stack.worker.say(session, text, more);
      await stack.worker.until(`${turn_id} to end`, () => refuseUntilEnded(stack, turn_id));
      return callsOf(stack, turn_id);
    },
  };
}

async function refuseUntilEnded(stack: Stack, turn: string): Promise<true | undefined> {
  const { rows } = await stack.pool.query('select ended_at from turns where id = $1', [turn]);
  if (rows[0]?.ended_at) return true;
  const { body } = await stack.ask('GET', '/v1/approvals?status=pending');
  for (const { id } of body.data)
    await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision: 'reject' } });
  return undefined;
}

async function callsOf(stack: Stack, turn: string): Promise<readonly Judged[]> {
  const { rows } = await stack.pool.query<Judged>(
    `select c.tool, c.verdict, c.ok, c.session_key as session, coalesce(a.reason, c.reason) as reason from tool_calls c
       left join approvals a on a.id = c.approval_id where c.turn_id = $1 order by c.created_at, c.step, c.index`,
    [turn],
  );
  return rows;
}
