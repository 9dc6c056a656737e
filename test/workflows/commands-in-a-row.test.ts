/**
 * DU-1, DU-4: a model that answers quickly and requests one command after the other still receives messages and stops,
 * whenever they come.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer, type TestServer } from '#test/activities/model/provider-server.ts';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';
import { eventually } from '#test/support/processes.ts';

/** Long enough that a workflow task could end in the meantime, short enough to be awaited in one. */
const ANSWER_MS = 80;
const STEPS = 10;

interface Question {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Results of commands in it. */
  readonly results: number;
  readonly text: string;
  state: 'open' | 'answered' | 'hung up';
}

interface CommandModel extends TestServer {
  /** Requests by the word in the conversation. */
  readonly questions: Map<string, Question[]>;
}

/** OpenAI's chat protocol: requests one command after the other, then says so. */
async function startCommandModel(): Promise<CommandModel> {
  const questions = new Map<string, Question[]>();
  const server = await startServer(async ({ body }, response) => {
    const messages = body['messages'] as readonly { role: string }[];
    const text = JSON.stringify(messages);
    const word = /word-\w+/.exec(text)?.[0] ?? '';
    const results = messages.filter(({ role }) => role === 'tool').length;
    const question: Question = { at: Date.now(), results, text, state: 'open' };
    questions.set(word, [...(questions.get(word) ?? []), question]);
    response.on('close', () => {
      question.state = response.writableFinished ? 'answered' : 'hung up';
    });
    await sleep(ANSWER_MS);
    const chunk = (delta: object, end: string | null): string =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: end }] })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (results >= STEPS) {
      response.write(chunk({ role: 'assistant', content: 'Done.' }, null));
      response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
      return;
    }
    const command = `echo ${results} >> ${word}.txt; sleep 0.05; wc -l < ${word}.txt`;
    const call = {
      index: 0,
      id: `call_${results}`,
      type: 'function',
      function: { name: 'exec', arguments: JSON.stringify({ command }) },
    };
    response.write(chunk({ role: 'assistant', content: '', tool_calls: [call] }, null));
    response.end(`${chunk({}, 'tool_calls')}data: [DONE]\n\n`);
  });
  return Object.assign(server, { questions });
}

describe('DU-1 commands in a row', () => {
  let live: LiveWorker;
  let model: CommandModel;
  before(async () => {
    model = await startCommandModel();
    live = await startLiveWorker({
      settings: `models: { providers: { chat: { type: openai, api: chat, apiKey: planted, baseUrl: '${model.url}' } } }\n`,
      agents: [{ key: 'runs', model: 'chat/gpt-4.1-mini', exec: { security: 'full', ask: 'off' } }],
    });
  });
  after(async () => {
    await live?.close();
    await model?.close();
  });

  const words = (): string => `word-${performance.now().toFixed()}`;
  const askedOf = (word: string): readonly Question[] => model.questions.get(word) ?? [];

  /** Checks that each command ran once, and each step made one request. */
  async function wasPlain(word: string, turn: string, steps: number): Promise<void> {
    const results = (await live.calls(turn)).map(({ result }) => Number(result));
    assert.deepEqual(
      results,
      results.map((_, at) => at + 1),
    );
    const { rows } = await live.pool.query(
      `select 1 from model_uses where tenant_id = $1 and session_key = $2 and kind = 'unused'`,
      [live.tenant, word],
    );
    assert.equal(rows.length, 0);
    assert.equal(askedOf(word).length, steps);
  }

  it('is asked once a step, and each command runs once', async () => {
    const word = words();
    const { turn_id } = await live.say(word, word, { agent: 'runs' });
    const row = await live.ended(turn_id);
    assert.deepEqual([row.status, row.text, row.steps], ['completed', 'Done.', STEPS + 1]);
    await wasPlain(word, turn_id, STEPS + 1);
  });

  it('DU-4: reads a message that comes meanwhile at the step that its receipt names, and not before', async () => {
    for (const wait of [150, 333, 520, 700, 910]) {
      const word = words();
      const { turn_id } = await live.say(word, word, { agent: 'runs' });
      await sleep(wait);
      const steer = await live.say(word, `steered-${word}`, { agent: 'runs', mode: 'steer' });
      await live.ended(turn_id);
      const ended = await live.ended(steer.turn_id);
      assert.equal(ended.status, 'completed');
      if (steer.turn_id !== turn_id) continue;
      await wasPlain(word, turn_id, ended.steps);
      const received = (await live.heard(word)).find(({ text }) => text === `steered-${word}`);
      assert.equal(received?.step, steer.step);
      const first = askedOf(word).findIndex(({ text }) => text.includes(`steered-${word}`));
      assert.equal(first + 1, steer.step);
    }
  });

  it('DU-4: is hung up on by a stop, whenever it comes, and not asked again', async () => {
    for (const wait of [120, 210, 340, 480, 555, 690, 805]) {
      const word = words();
      const { turn_id } = await live.say(word, word, { agent: 'runs' });
      await sleep(wait);
      await live.temporal.stop(live.tenant, word, { turn_id, level: 'now', by: 'ann' });
      const { status } = await live.ended(turn_id);
      const requested = askedOf(word).length;
      assert.ok(await eventually(async () => askedOf(word).every(({ state }) => state !== 'open')));
      assert.equal(askedOf(word).length, requested);
      // This fails only if the machine is so slow that the stop came after its end.
      if (status !== 'completed') assert.equal(status, 'stopped');
    }
  });
});
