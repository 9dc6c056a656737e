/**
 * DU-5, DU-10: the state folder of a release is upgraded in place, and everything that was open in it goes on. A migration is
 * added, so that there is an upgrade as long as no later version has one.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { unpackState } from '../upgrade/state-file.ts';
import { cloneRepository, type Clone, type Program } from './program.ts';

const FIXTURES = new URL('../upgrade/fixtures/', import.meta.url).pathname;
const PATIENCE_MS = 60_000;

for (const version of readdirSync(FIXTURES))
  describe(`DU-5 DU-10 the state of ${version}`, { timeout: 600_000 }, () => {
    let clone: Clone;
    let program: Program;
    let database: string;
    before(async () => {
      clone = await cloneRepository();
      database = await unpackState(join(FIXTURES, version, 'state.tar.br'), join(clone.folder, '.tempoclaw'));
      const migrations = join(clone.folder, 'store/migrations');
      const number = String(readdirSync(migrations).length + 1).padStart(4, '0');
      await writeFile(
        join(migrations, `${number}_upgrade.sql`),
        '-- Up Migration\nalter table turns add column upgraded boolean default true;\n',
      );
      program = await clone.start();
    });
    after(async () => {
      await program?.interrupt();
      await clone?.remove();
      if (database) await rm(database, { recursive: true, force: true });
    });

    async function ask(method: string, path: string, body?: unknown): Promise<any> {
      const answer = await program.ask(method, path, body);
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    }
    async function until<T>(what: string, probe: () => Promise<T | undefined>): Promise<T> {
      for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(200)) {
        const found = await probe();
        if (found !== undefined) return found;
      }
      return assert.fail(`${what} does not come`);
    }
    /** Texts of the turns of a session, the oldest first, once all have ended. */
    const endedTurns = (session: string) =>
      until(`the end of ${session}`, async () => {
        const turns: { id: string; status: string }[] = (await ask('GET', `/v1/sessions/${session}/turns`))
          .data;
        if (turns.some(({ status }) => status === 'running' || status === 'queued')) return undefined;
        return turns.map(({ status }) => status);
      });

    it('is backed up and upgraded', () => {
      assert.match(program.printed(), /upgrades a database of TempoClaw .*; backing it up first/);
    });

    it('has its approvals, which are decided: one command runs, once, and the other does not', async () => {
      const { data } = await ask('GET', '/v1/approvals?status=pending');
      assert.equal(data.length, 2);
      for (const { id, session_key: session } of data)
        await ask('POST', `/v1/approvals/${id}/decision`, { decision: session });
      assert.deepEqual(await endedTurns('approve'), ['completed']);
      assert.deepEqual(await endedTurns('reject'), ['completed']);
      const workspaces = join(clone.folder, '.tempoclaw/workspaces');
      const done = (readdirSync(workspaces, { recursive: true }) as string[])
        .filter((path) => path.endsWith('done.txt'))
        .map((path) => readFileSync(join(workspaces, path), 'utf8'));
      assert.deepEqual(done, ['approve\n']);
    });

    it('has its turn that waited and the message behind it, which end', async () => {
      assert.deepEqual(await endedTurns('waits'), ['completed', 'completed']);
    });

    it('has its tasks, which are claimed and completed, and free those that wait', async () => {
      const { lease } = await ask('POST', '/v1/teams/crew/tasks/1/claim', { member: 'scribe' });
      await ask('POST', '/v1/teams/crew/tasks/1/complete', {
        member: 'scribe',
        token: lease.token,
        text: 'Wrote first.',
      });
      await until('the second task', async () => {
        const { status } = await ask('GET', '/v1/teams/crew/tasks/2');
        return status === 'completed' || undefined;
      });
    });

    it('has its schedule, channel, secret and memory', async () => {
      const [{ id }] = (await ask('GET', '/v1/schedules?name=yearly')).data;
      await ask('POST', `/v1/schedules/${id}/run`, {});
      const run = await until('the run of the schedule', async () => {
        const { data } = await ask('GET', `/v1/schedules/${id}/runs`);
        return data.find((one: { status: string }) => one.status === 'completed');
      });
      assert.match(run.text, /Ended yearly/);
      assert.equal((await ask('GET', '/v1/channels/site')).agent, 'scribe');
      assert.deepEqual(
        (await ask('GET', '/v1/secrets')).data.map(({ name }: { name: string }) => name),
        ['kept'],
      );
      assert.equal((await ask('GET', '/v1/agents/scribe/files/MEMORY.md')).text, 'The release was 0.1.0.');
    });

    it('has no workflow that failed, and none whose code no longer fits its history', async () => {
      const connection = await Connection.connect({ address: program.run.temporal });
      try {
        const client = new Client({ connection, namespace: program.run.namespace });
        let count = 0;
        for await (const { workflowId, runId, status } of client.workflow.list()) {
          assert.ok(
            !['FAILED', 'TERMINATED', 'TIMED_OUT'].includes(status.name),
            `${workflowId}: ${status.name}`,
          );
          const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
          const failed = events?.map(({ workflowTaskFailedEventAttributes: task }) => task?.failure?.message);
          assert.deepEqual(failed?.filter(Boolean), [], workflowId);
          count += 1;
        }
        assert.ok(count > 5);
      } finally {
        await connection.close();
      }
    });
  });
