/**
 * TE-1, TE-2, DE-6: `examples/report-team` does what it says: by the rehearsal script, and by a model server of
 * OpenAI's protocol.
 */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'node:test';
import { taskSessionKey } from '#domain/team/team.ts';
import type { AgentConfig } from '#domain/agent.ts';
import type { TestServer } from '#test/activities/model/provider-server.ts';
import { startScriptedOpenAi } from '#test/support/scripted-openai.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const FOLDER = fileURLToPath(new URL('../../examples/report-team', import.meta.url));

async function agentsOf(model: string): Promise<AgentConfig[]> {
  const files = await readdir(`${FOLDER}/agents`);
  const texts = await Promise.all(files.map((file) => readFile(`${FOLDER}/agents/${file}`, 'utf8')));
  return texts.map((text) => ({ ...(JSON.parse(text) as AgentConfig), model }));
}

for (const protocol of ['rehearsal', 'OpenAI'] as const)
  describe(`the example report-team, by ${protocol}`, () => {
    let stack: Stack;
    let server: TestServer | undefined;
    before(async () => {
      const script = await readFile(`${FOLDER}/report-team.yaml`, 'utf8');
      if (protocol === 'OpenAI') server = await startScriptedOpenAi(FOLDER);
      stack = await startStack({
        scripts: { 'report-team': script },
        agents: await agentsOf(server ? 'chat/report-team' : 'rehearsal/report-team'),
        settings: server
          ? `models: { providers: { chat: { type: openai, api: chat, apiKey: planted, baseUrl: '${server.url}/v1' } } }`
          : '{}',
      });
      const body = { key: 'report', lead: 'lead', members: ['researcher', 'writer', 'reviewer'] };
      const made = await stack.ask('POST', '/v1/teams', { body });
      assert.equal(made.status, 201, JSON.stringify(made.body));
    });
    after(async () => {
      await stack?.stop();
      await server?.close();
    });

    it('the report is researched, written, sent back by the gate, reviewed, and the lead tells the user', async () => {
      const { worker } = stack;
      const { turn_id } = await worker.say('tea', 'Write a report about tea.', { agent: 'lead' });
      assert.equal((await worker.ended(turn_id)).text, 'My team is at work.');
      const answer = await worker.until('the lead’s answer', async () => {
        const [, second] = await worker.turns('tea');
        return second?.ended_at ? second : undefined;
      });
      assert.equal(answer.text, 'The report is in report.md, and it has been reviewed.');
      const { body } = await stack.ask('GET', '/v1/teams/report/tasks');
      const tasks = body.data.toReversed();
      assert.deepEqual(
        tasks.map(({ owner, status, result }: any) => [owner, status, result.split('\n')[0]]),
        [
          ['researcher', 'completed', 'Two facts are in facts.md.'],
          ['writer', 'completed', 'The report is in report.md.'],
          ['reviewer', 'completed', 'Nothing is missing. I read:'],
        ],
      );
      assert.match(tasks[2].result, /# Tea/, 'what was reviewed had passed the gate');
      const [writing] = await worker.turns(taskSessionKey('report', 2, 'writer'));
      const checks = (await worker.events(taskSessionKey('report', 2, 'writer'))).filter(
        ({ type }) => type === 'gate.checked',
      );
      assert.equal(checks.length, 2, 'the gate sent it back once');
      assert.equal(writing?.steps, 5);
    });

    it('each model call went the way that was asked for', () => {
      assert.equal((server?.seen.length ?? 0) > 0, protocol === 'OpenAI');
    });
  });
