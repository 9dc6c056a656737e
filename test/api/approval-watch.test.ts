/** IN-2: many readers of a tenant's approvals cost one query, and none of them reads without a change. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApprovalWatch } from '#api/approvals/approval-watch.ts';
import type { EventFeed } from '#api/event-feed.ts';
import { eventually } from '#test/support/processes.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

const READERS = 50;

describe('IN-2 readers of approvals', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    for (const tenant of ['own', 'other']) {
      await database.pool.query(`insert into tenants values ('${tenant}', '${tenant}')`);
      await database.pool.query(
        `insert into agents (tenant_id, key, revision, config) values ('${tenant}', 'a', 1, '{}')`,
      );
      await database.pool.query(
        `insert into sessions (tenant_id, key, agent_key) values ('${tenant}', 's', 'a')`,
      );
    }
  });
  after(() => database.drop());

  async function addApproval(tenant: string, id: string): Promise<void> {
    await database.pool.query(
      `insert into approvals (tenant_id, id, call_id, session_key, turn_id, agent_key, tool, args, summary, digest, always, status, expires_at)
       values ($1, $2, $2, 's', 't', 'a', 'exec', '{}', 'x', 'x', '{}', 'pending', now())`,
      [tenant, id],
    );
  }

  it('are woken when one changes, and not by the other events of their tenant', async () => {
    const rings = new Set<() => void>();
    const feed: Pick<EventFeed, 'subscribeAll'> = {
      subscribeAll(_tenant, wake) {
        rings.add(wake);
        return () => rings.delete(wake);
      },
    };
    const ring = (): void => {
      for (const wake of rings) wake();
    };
    const watch = createApprovalWatch({ pool: database.pool, feed: feed as EventFeed }, assert.ifError);
    const woken = Array.from({ length: READERS }, () => 0);
    const ends = woken.map((_, at) => watch.subscribe('own', () => void (woken[at] = (woken[at] ?? 0) + 1)));
    const all = (count: number) => woken.every((times) => times === count);

    ring();
    assert.ok(await eventually(() => all(1)), 'the first look may have missed a change');
    for (let event = 0; event < 20; event += 1) {
      ring();
      await sleep(20);
    }
    await addApproval('other', 'theirs');
    ring();
    await sleep(300);
    assert.ok(all(1), String(woken));

    await addApproval('own', 'ours');
    ring();
    assert.ok(await eventually(() => all(2)), String(woken));

    // Without a notice it is found too.
    await database.pool.query(
      `update approvals set status = 'approved', changed_at = clock_timestamp() where id = 'ours'`,
    );
    assert.ok(await eventually(() => all(3)), String(woken));

    for (const end of ends) end();
    assert.equal(rings.size, 0);
  });
});
