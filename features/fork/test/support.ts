/** Sessions that are forked in tests. */
import assert from 'node:assert/strict';
import type { Stack } from '#test/support/stack.ts';

export interface Forker {
  /** Sends the steps to the session and resolves with the turn when it has ended. Tests read answers of every shape. */
  send(session: string, steps: readonly string[]): Promise<any>;
  /** Forks, expects that, and waits until the turn that goes on has ended. */
  fork(session: string, body: object): Promise<any>;
  ended(turn: string): Promise<any>;
  /** The transcript with the results of its calls, without ids and times. */
  transcript(session: string): Promise<readonly unknown[]>;
  /** All rows of a session as they are. */
  rows(session: string): Promise<string>;
  /** Of the agent's workspace in the session; undefined when there is no such file. */
  file(session: string, path: string, agent?: string): Promise<string | undefined>;
}

export const write = (path: string, content: string): string =>
  `write_file ${JSON.stringify({ path, content })}`;

const TABLES = ['messages', 'turns', 'tool_calls', 'events', 'before_images', 'usage_by_session'];

export function createForker(stack: Stack): Forker {
  const ended = (turn: string): Promise<any> =>
    stack.worker.until(`the end of ${turn}`, async () => {
      const { body } = await stack.ask('GET', `/v1/turns/${turn}`);
      return ['completed', 'failed', 'stopped'].includes(body.status) ? body : undefined;
    });
  return {
    ended,
    async send(session, steps) {
      const isNew = (await stack.ask('GET', `/v1/sessions/${session}`)).status === 404;
      const { body, status } = await stack.ask('POST', `/v1/sessions/${session}/messages?wait=60`, {
        body: { text: steps.join('\nthen\n'), agent: isNew ? 'free' : undefined },
      });
      assert.ok(status === 200 || status === 202, JSON.stringify(body));
      return body;
    },
    async fork(session, body) {
      const answer = await stack.ask('POST', `/v1/sessions/${session}/forks`, { body });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      if (answer.body.turn_id !== null) await ended(answer.body.turn_id);
      return answer.body;
    },
    async transcript(session) {
      const { rows } = await stack.pool.query(
        `select m.role, m.text, m.step, m.position::int, (select jsonb_agg(jsonb_build_array(c.tool, c.args, c.verdict, c.ok, c.code, c.result) order by c.index)
           from tool_calls c where c.tenant_id = m.tenant_id and c.session_key = m.session_key and c.turn_id = m.turn_id and c.step = m.step and m.role = 'assistant') as calls
         from messages m where m.tenant_id = $1 and m.session_key = $2 and m.position is not null order by m.position`,
        [stack.tenant, session],
      );
      return rows;
    },
    async rows(session) {
      const parts: unknown[] = [];
      for (const table of TABLES) {
        const { rows } = await stack.pool.query(
          `select to_jsonb(t)::text as row from ${table} t where tenant_id = $1 and session_key = $2 order by 1`,
          [stack.tenant, session],
        );
        parts.push(rows);
      }
      const { rows } = await stack.pool.query(
        `select to_jsonb(s)::text as row from sessions s where tenant_id = $1 and key = $2`,
        [stack.tenant, session],
      );
      return JSON.stringify([...parts, rows]);
    },
    async file(session, path, agent = 'free') {
      const { status, body } = await stack.ask(
        'GET',
        `/v1/agents/${agent}/workspace/${path}?session=${session}`,
      );
      if (status === 404) return undefined;
      assert.equal(status, 200, JSON.stringify(body));
      return String(body);
    },
  };
}
