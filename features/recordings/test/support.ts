/** Sessions that are recorded and replayed in tests. */
import assert from 'node:assert/strict';
import { type Client, createClient } from '#cli/client.ts';
import type { Stack } from '#test/support/stack.ts';
import { recordSession } from '../commands/record.ts';
import { type Replayed, runReplay } from '../run-replay.ts';
import type { Recording, ReplayMode } from '../schema.ts';

export interface Player {
  readonly client: Client;
  /** Tests read fields of answers of every shape. */
  send(session: string, steps: readonly string[], agent?: string): Promise<any>;
  /** Decides the next approval of the turn, and waits for the turn's end. */
  decide(turn: string, decision: object): Promise<void>;
  record(session: string): Promise<Recording>;
  replay(recording: Recording, mode?: Exclude<ReplayMode, 'script'>): Promise<Replayed>;
  /** The texts of a session's messages, with the results of its calls. */
  transcript(session: string): Promise<unknown>;
}

export function createPlayer(stack: Stack): Player {
  const target = { url: stack.url, key: stack.key, socket: undefined, source: 'test', run: undefined };
  const client = createClient(target);
  return {
    client,
    async send(session, steps, agent = 'shop') {
      const { body } = await stack.ask('POST', `/v1/sessions/${session}/messages?wait=60`, {
        body: { text: steps.join('\nthen\n'), agent },
      });
      return body;
    },
    async decide(turn, decision) {
      const approval = await stack.worker.until('an approval', async () => {
        const { body } = await stack.ask('GET', `/v1/approvals?status=pending&turn_id=${turn}`);
        return body.data[0]?.id as string | undefined;
      });
      const decided = await stack.ask('POST', `/v1/approvals/${approval}/decision`, { body: decision });
      assert.equal(decided.status, 200, JSON.stringify(decided.body));
      await stack.worker.until('the end', async () => {
        const { body } = await stack.ask('GET', `/v1/turns/${turn}`);
        return body.status === 'completed' ? true : undefined;
      });
    },
    record: (session) => recordSession(client, session),
    replay: (recording, mode = 'compare') => runReplay(client, recording, mode),
    async transcript(session) {
      const { rows } = await stack.pool.query(
        `select m.role, m.text, (select jsonb_agg(jsonb_build_array(c.tool, c.args, c.ok, c.code, c.result) order by c.index)
           from tool_calls c where c.tenant_id = m.tenant_id and c.session_key = m.session_key and c.turn_id = m.turn_id and c.step = m.step and m.role = 'assistant') as calls
         from messages m where m.tenant_id = $1 and m.session_key = $2 order by m.position`,
        [stack.tenant, session],
      );
      return rows;
    },
  };
}
