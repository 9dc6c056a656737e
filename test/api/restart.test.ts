import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiProcess, startApiProcess } from '#test/support/api-process.ts';
import { startLiveWorker } from '#test/support/live-worker.ts';
import { openSse, type SseEvent } from '#test/support/sse.ts';

const SESSIONS = 10;
const MESSAGES = 6;

describe('F6, DU-1 the API is killed under load', () => {
  it('loses no accepted message and repeats none; repeated requests get the same turn; feeds go on without gap', async () => {
    const worker = await startLiveWorker();
    const folder = await mkdtemp(join(tmpdir(), 'tempoclaw-restart-'));
    const settings = {
      databaseUrl: String(worker.pool.options.connectionString),
      // With the master key that the worker seals by.
      stateDir: worker.keys.stateDir,
      cwd: folder,
      taskQueue: worker.taskQueue,
    };
    let api: ApiProcess = await startApiProcess(settings);
    const { address } = api;
    const port = Number(new URL(address).port);
    const headers = {
      authorization: `Bearer ${(await readFile(join(worker.keys.stateDir, 'api-key'), 'utf8')).trim()}`,
      'content-type': 'application/json',
    };

    /**
     * Acts as a client should: it uses the same key until there is an answer that is not "try again". Returns all turn
     * ids it got.
     */
    async function insist(path: string, key: string, body: object): Promise<Set<string>> {
      const turns = new Set<string>();
      for (let answered = 0; answered < 2; ) {
        try {
          const response = await fetch(address + path, {
            method: 'POST',
            headers: { ...headers, 'idempotency-key': key },
            body: JSON.stringify(body),
          });
          const answer = (await response.json()) as { turn_id?: string; retryable?: boolean; code?: string };
          if (response.status === 202 || response.status === 201) {
            turns.add(answer.turn_id ?? '');
            answered += 1;
          } else if (answer.retryable !== true) throw new Error(`${response.status} ${answer.code}`);
        } catch (error) {
          if (!(error instanceof TypeError)) throw error;
        }
        await sleep(30);
      }
      return turns;
    }

    async function follow(session: string, expected: number): Promise<readonly SseEvent[]> {
      const events: SseEvent[] = [];
      const completed = (): number => events.filter(({ event }) => event === 'turn.completed').length;
      while (completed() < expected) {
        try {
          const after = String(events.at(-1)?.id ?? 0);
          const reader = await openSse(`${address}/v1/sessions/${session}/events`, {
            ...headers,
            'last-event-id': after,
          });
          await reader.until((event) => {
            events.push(event);
            return completed() >= expected;
          });
          reader.close();
        } catch (error) {
          if (!(error instanceof TypeError)) throw error;
        }
        await sleep(30);
      }
      return events;
    }

    try {
      await insist('/v1/agents', 'agent', { key: 'echo', model: 'rehearsal/echo' });
      const sent = Array.from({ length: SESSIONS }, async (_one, session) => {
        const turns: Set<string>[] = [];
        for (let at = 0; at < MESSAGES; at += 1)
          turns.push(
            await insist(`/v1/sessions/s${session}/messages`, `${session}-${at}`, {
              text: `${at}`,
              agent: 'echo',
            }),
          );
        return turns;
      });
      const followed = Array.from({ length: SESSIONS }, (_one, session) => follow(`s${session}`, MESSAGES));
      for (let kills = 0; kills < 2; kills += 1) {
        await sleep(400);
        await api.end('SIGKILL');
        api = await startApiProcess({ ...settings, port });
        assert.equal(api.address, address);
      }
      const all = (await Promise.all(sent)).flat();
      assert.ok(all.every((turns) => turns.size === 1));
      assert.equal(new Set(all.flatMap((turns) => [...turns])).size, SESSIONS * MESSAGES);
      for (const [session, feed] of (await Promise.all(followed)).entries()) {
        const ids = feed.map(({ id }) => id);
        assert.deepEqual(
          ids,
          ids.map((_id, at) => at + 1),
        );
        const received = feed
          .filter(({ event }) => event === 'message.received')
          .map(({ data }) => data.data['text']);
        assert.deepEqual(
          received,
          Array.from({ length: MESSAGES }, (_one, at) => String(at)),
          `s${session}`,
        );
      }
      const { rows } = await worker.pool.query(
        'select status, count(*)::int as n from turns group by status',
      );
      assert.deepEqual(rows, [{ status: 'completed', n: SESSIONS * MESSAGES }]);
      assert.equal(await api.end(), 0);
    } finally {
      api.child.kill('SIGKILL');
      await worker.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
