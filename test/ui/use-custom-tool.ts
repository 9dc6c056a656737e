/** Creates a custom tool over HTTP and lets an agent use it at once, for what the web UI shows of it. */
import assert from 'node:assert/strict';
import type { Program } from '#test/start/program.ts';
import { eventually } from '#test/support/processes.ts';

export async function useCustomTool({
  ask,
}: Program): Promise<{ readonly link: string; readonly turn: { status: string; text: string } }> {
  const made = await ask('POST', '/v1/tools/custom', {
    name: 'count_lines',
    description: 'Count the lines of a file',
    command: 'wc -l {{.file}}',
    replay: 'readonly',
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const agent = await ask('POST', '/v1/agents', { key: 'counter', model: 'rehearsal/follow' });
  assert.equal(agent.status, 201, JSON.stringify(agent.body));
  const poem = JSON.stringify({ path: 'poem.txt', content: 'one\ntwo\n' });
  const answer = await ask('POST', '/v1/sessions/counting/messages', {
    agent: 'counter',
    text: `write_file ${poem}\nthen\ncount_lines {"file":"poem.txt"}\nthen\nThat is all.`,
  });
  assert.equal(answer.status, 202, JSON.stringify(answer.body));
  const read = async () => (await ask('GET', `/v1/turns/${answer.body.turn_id}`)).body;
  await eventually(async () => (await read()).ended_at !== null, 60_000);
  const turn = await read();
  return { turn, link: turn.links.temporal };
}
