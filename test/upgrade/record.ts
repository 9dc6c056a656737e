/**
 * Records the state folder of a release, for test/start/upgrade-release.test.ts: open turns, approvals, tasks, a schedule
 * and a channel. `npx node test/upgrade/record.ts` on the commit of the release. An approval waits for a year at most.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import manifest from '../../package.json' with { type: 'json' };
import { cloneRepository, type Program } from '../start/program.ts';
import { packState } from './state-file.ts';

/** The longest that an approval may wait. */
const YEAR_SECONDS = 31_536_000;

async function make(program: Program, method: string, path: string, body: unknown): Promise<any> {
  const answer = await program.ask(method, path, body);
  if (answer.status >= 300)
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

async function fill(program: Program): Promise<void> {
  const exec = { security: 'full', ask: 'always' };
  await make(program, 'POST', '/v1/agents', { key: 'asks', model: 'rehearsal/follow', exec });
  await make(program, 'POST', '/v1/agents', { key: 'scribe', model: 'rehearsal/follow' });
  const say = (session: string, text: string, agent: string) =>
    make(program, 'POST', `/v1/sessions/${session}/messages`, { agent, text });
  for (const session of ['approve', 'reject'])
    await say(session, `exec {"command":"echo ${session} >> done.txt"}\nthen\nEnded ${session}.`, 'asks');
  await say('waits', 'wait {"timeMs":300000,"reason":"the upgrade"}\nthen\nEnded waits.', 'scribe');
  await say('waits', 'Ended queued.', 'scribe');
  await make(program, 'POST', '/v1/teams', { key: 'crew', lead: 'main', members: ['scribe'] });
  await make(program, 'POST', '/v1/teams/crew/tasks', { subject: 'first', description: 'Wrote first.' });
  await make(program, 'POST', '/v1/teams/crew/tasks', {
    subject: 'second',
    description: 'Wrote second.',
    blocked_by: ['1'],
    assignee: 'scribe',
  });
  await make(program, 'POST', '/v1/schedules', {
    name: 'yearly',
    agent: 'scribe',
    schedule: { kind: 'cron', expr: '0 0 1 1 *' },
    message: 'Ended yearly.',
  });
  await make(program, 'POST', '/v1/channels', { key: 'site', type: 'web', agent: 'scribe' });
  await make(program, 'PUT', '/v1/secrets/kept', { value: 'a-secret-of-the-fixture' });
  await make(program, 'PUT', '/v1/agents/scribe/files/MEMORY.md', { text: 'The release was 0.1.0.' });
  for (const until = Date.now() + 60_000; ; await sleep(500)) {
    const { body } = await program.ask('GET', '/v1/approvals?status=pending');
    if (body.data.length === 2) return;
    if (Date.now() > until) throw new Error('the approvals do not wait');
  }
}

const clone = await cloneRepository();
try {
  const program = await clone.start({ TEMPOCLAW_APPROVAL_EXPIRY_SECONDS: String(YEAR_SECONDS) });
  await fill(program);
  await program.interrupt();
  const folder = new URL(`fixtures/${manifest.version}/`, import.meta.url).pathname;
  await mkdir(folder, { recursive: true });
  await packState(join(clone.folder, '.tempoclaw'), join(folder, 'state.tar.br'));
} finally {
  await clone.remove();
}
