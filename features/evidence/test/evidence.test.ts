/** DU-11: a signed chain over what was called and decided, which is verified offline. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { exportLines } from '../export.ts';
import { readHead } from '../store.ts';
import { verifyEvidence } from '../verify.ts';
import { doHarm, keepTables } from './faults.ts';
import { type Recorded, recordWork, startRecorded } from './recorded.ts';

const HARMS = Number(process.env['TEST_HARMS'] ?? 500);

describe('DU-11 a signed chain of evidence', { timeout: 600_000 }, () => {
  let recorded: Recorded;
  before(async () => {
    recorded = await startRecorded();
    await recordWork(recorded, 4);
  });
  after(() => recorded?.stop());

  it('has calls with their outcome, approvals, decisions, policies and revisions, and is green', async () => {
    const lines = await recorded.exported();
    const verdict = await verifyEvidence(lines);
    assert.deepEqual(verdict.fault, null);
    const entries = lines.slice(1, -1).map((line) => JSON.parse(line));
    const byKind = Map.groupBy(entries, ({ kind }) => kind);
    const { rows } = await recorded.stack.pool.query(
      `select (select count(*)::int from tool_calls where state = 'done') as calls, (select count(*)::int from approvals) as approvals,
        (select count(*)::int from approval_decisions) as decisions, (select count(*)::int from policy_changes) as policies,
        (select count(*)::int from agent_revisions) as revisions, (select count(*)::int from rollout_changes) as rollouts`,
    );
    const count = (kind: string) => byKind.get(kind)?.length;
    assert.deepEqual(rows[0], {
      calls: count('call'),
      approvals: count('approval'),
      decisions: count('decision'),
      policies: count('policy'),
      revisions: count('revision'),
      rollouts: count('rollout'),
    });
    assert.equal(count('approval'), 4);
    assert.equal(count('policy'), 4);
    assert.equal(count('rollout'), 8);
    const contents = byKind.get('call')?.map(({ content }) => JSON.parse(content));
    assert.ok(contents?.some(({ tool, ok, result }) => tool === 'read_file' && ok && /text 0/.test(result)));
    const approvals = byKind.get('approval')?.map(({ content }) => JSON.parse(content).status);
    assert.deepEqual(approvals?.toSorted(), ['approved', 'approved', 'denied', 'denied']);
  });

  it(`names the fault after each of ${HARMS} changes by a superuser, and none in between`, async () => {
    const { stack, superuser } = recorded;
    const { pool, tenant } = stack;
    const chance = createChance(seedOfRun());
    console.log(`seed ${chance.seed}`);
    const head = await readHead(forTenant(pool, tenant));
    assert.ok(head);
    const anchors = [head];
    const verify = async () => {
      let text = '';
      for await (const page of exportLines(pool, stack.deps.secrets.sealer, tenant)) text += page;
      return verifyEvidence(text.split('\n'), { anchors });
    };
    const { restore } = await keepTables(superuser);
    const found = new Map<string, number>();
    for (let nth = 0; nth < HARMS; nth += 1) {
      const harm = await doHarm(superuser, chance);
      const { fault } = await verify();
      assert.ok(fault, `not found: ${harm}`);
      const [kind = ''] = harm.split(':');
      found.set(`${kind} ${fault.fault}`, (found.get(`${kind} ${fault.fault}`) ?? 0) + 1);
      await restore();
      if (nth % 50 === 0) assert.deepEqual((await verify()).fault, null, harm);
    }
    assert.deepEqual((await verify()).fault, null);
    for (const expected of [
      'edit edited',
      'delete deleted',
      'reorder reordered',
      'deleteEntry deleted',
      'truncate truncated',
      'insertRow unchained',
      'insertRowWithTrigger unchained',
      'forgeEntry edited',
    ])
      assert.ok(found.has(expected), `${expected}: ${[...found].join('; ')}`);
  });
});
