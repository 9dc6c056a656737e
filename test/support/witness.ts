/**
 * The invariants that hold after every fault (I1–I6), checked in rows, in the file that effects wrote, and in
 * Temporal's histories; never in what the code under test reports about itself.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { userCacheDir } from '#config';
import { INSTALLATION } from '#domain/installation.ts';
import { loadWorkflowBundle } from '#workers/bundle.ts';
import { FEATURES } from '#features';
import type { Stand, Tenant } from './faults.ts';
import { replayHistories } from './replay.ts';

/** A message that the API accepted: it must end in exactly one turn. */
export interface Accepted {
  readonly tenant: Tenant;
  readonly session: string;
  readonly turn: string;
  /** The turn's effect, if it has one, writes it; the message's text also contains it. */
  readonly token: string;
}

interface TurnFacts {
  readonly id: string;
  readonly status: string;
  readonly ends: number;
  readonly heard: number;
}

interface CallFacts {
  readonly id: string;
  readonly tool: string;
  readonly args: string;
  readonly verdict: string;
  readonly state: string;
  readonly ok: boolean | null;
  readonly code: string | null;
  readonly result: string | null;
  readonly approval: string | null;
  readonly used: boolean;
  readonly same: boolean;
}

const TERMINAL = new Set(['completed', 'failed', 'stopped']);
/** Codes of calls that report that they have not run. */
const NOT_RUN = new Set([
  'ApprovalDenied',
  'ApprovalExpired',
  'ApprovalWithdrawn',
  'PermissionDenied',
  'InvalidArgs',
  'RateLimited',
]);

/** Resolves when every accepted message's turn has ended. */
export async function untilAllEnded(stand: Stand, accepted: readonly Accepted[]): Promise<void> {
  for (const { tenant, turn } of accepted)
    await stand.until(`the end of ${turn}`, async () => {
      const { rows } = await query<{ ended: boolean }>(
        stand,
        'select ended_at is not null as ended from turns where tenant_id = $1 and id = $2',
        [tenant.id, turn],
      );
      return rows[0]?.ended ? true : undefined;
    });
}

/** Throws, naming what it is about, when an invariant does not hold. */
export async function checkInvariants(stand: Stand, accepted: readonly Accepted[]): Promise<void> {
  const effects = await stand.effects();
  for (const message of accepted) {
    await checkTurn(stand, message);
    await checkCalls(stand, message, effects);
  }
  await checkFeeds(stand, accepted);
  await checkTenants(stand, accepted);
  await checkHistories(stand);
}

/** Checks I1 and I2. */
async function checkTurn(stand: Stand, { tenant, turn, token }: Accepted): Promise<void> {
  const { rows } = await query<TurnFacts>(
    stand,
    `select t.id, t.status,
       (select count(*)::int from events e where e.tenant_id = t.tenant_id and e.session_key = t.session_key
          and e.turn_id = t.id and e.type in ('turn.completed', 'turn.failed', 'turn.stopped')) as ends,
       (select count(*)::int from messages m where m.tenant_id = t.tenant_id and m.turn_id = t.id and m.role = 'user'
          and strpos(m.text, $3) > 0) as heard
     from turns t where t.tenant_id = $1 and t.id = $2`,
    [tenant.id, turn, token],
  );
  const [facts] = rows;
  assert.ok(facts, `I2: ${turn} was accepted and is not there`);
  assert.ok(TERMINAL.has(facts.status), `I1: ${turn} is ${facts.status}`);
  assert.equal(facts.ends, 1, `I1: ${turn} ended ${facts.ends} times in its feed`);
  assert.equal(facts.heard, 1, `I2: the message of ${turn} is in it ${facts.heard} times`);
}

/** Checks I3 and I4. */
async function checkCalls(
  stand: Stand,
  { tenant, turn, token }: Accepted,
  effects: readonly string[],
): Promise<void> {
  const { rows: calls } = await query<CallFacts>(
    stand,
    `select c.id, c.tool, c.args::text as args, c.verdict, c.state, c.ok, c.code, c.result, a.status as approval,
       a.used_at is not null as used, a.digest = c.digest as same
     from tool_calls c left join approvals a on a.tenant_id = c.tenant_id and a.id = c.approval_id
     where c.tenant_id = $1 and c.turn_id = $2`,
    [tenant.id, turn],
  );
  const times = effects.filter((line) => line === token).length;
  for (const call of calls) assert.equal(call.state, 'done', `I1: ${call.id} is ${call.state}`);
  const call = calls.find(({ tool, args }) => tool === 'exec' && args.includes(token));
  if (!call) return assert.equal(times, 0, `I3: ${token} happened without a call`);
  assert.ok(times <= 1, `I3: the effect of ${call.id} happened ${times} times`);
  if (call.ok) assert.equal(times, 1, `I3: ${call.id} is done and its effect did not happen`);
  if (saysItHasNotRun(call))
    assert.equal(times, 0, `I3: ${call.id} says ${call.code} and its effect happened`);
  else if (!call.ok)
    assert.match(call.code ?? '', /^(OutcomeUnknown|Cancelled)$/, `I3: ${call.id}: ${call.result}`);
  if (call.verdict === 'ask' && (times > 0 || call.ok))
    assert.deepEqual(
      [call.approval, call.used, call.same],
      ['approved', true, true],
      `I4: ${call.id} ran without a matching approval`,
    );
}

/** A service that was away before it began is an error of the tool. */
function saysItHasNotRun({ code, result }: CallFacts): boolean {
  return code === 'ExecutionFailed'
    ? result?.includes('the call has not run') === true
    : NOT_RUN.has(code ?? '');
}

/** Checks that what readers saw has no gap and no duplicate. */
async function checkFeeds(stand: Stand, accepted: readonly Accepted[]): Promise<void> {
  for (const tenant of stand.tenants) {
    const sessions = new Set(
      accepted.filter((message) => message.tenant.id === tenant.id).map(({ session }) => session),
    );
    const { rows } = await query<{ session_key: string; n: number; last: number; seq: number }>(
      stand,
      `select e.session_key, count(*)::int as n, max(e.id)::int as last, max(s.event_seq)::int as seq
       from events e join sessions s on s.tenant_id = e.tenant_id and s.key = e.session_key
       where e.tenant_id = $1 and e.session_key = any ($2) group by 1`,
      [tenant.id, [...sessions]],
    );
    assert.equal(rows.length, sessions.size);
    for (const row of rows)
      assert.deepEqual([row.n, row.last], [row.seq, row.seq], `the feed of ${row.session_key} has a gap`);
  }
}

/** I6: what one tenant said is in no row of the other's. */
async function checkTenants(stand: Stand, accepted: readonly Accepted[]): Promise<void> {
  for (const tenant of stand.tenants) {
    const foreign = accepted
      .filter((message) => message.tenant.id !== tenant.id)
      .map(({ token }) => `%${token}%`);
    const { rows } = await query<{ found: number }>(
      stand,
      `select (select count(*) from messages where tenant_id = $1 and text like any ($2))::int
            + (select count(*) from tool_calls where tenant_id = $1 and (args::text like any ($2) or result like any ($2)))::int
            + (select count(*) from events where tenant_id = $1 and data::text like any ($2))::int as found`,
      [tenant.id, foreign],
    );
    assert.equal(rows[0]?.found, 0, `I6: ${tenant.id} has rows of the other tenant`);
  }
}

/** Checks I5. */
async function checkHistories(stand: Stand): Promise<void> {
  const client = await stand.client();
  const { bundle } = await loadWorkflowBundle(join(userCacheDir(), 'test-bundles'), FEATURES);
  // The run that names the installation never starts, and has no code.
  const query = `WorkflowType != '${INSTALLATION.type}'`;
  const histories = client.workflow.list({ query }).intoHistories({ concurrency: 4 });
  let replayed = 0;
  for await (const result of replayHistories(bundle, histories)) {
    assert.equal(result.error, undefined, `I5: ${result.workflowId} ${result.runId} does not replay`);
    replayed += 1;
  }
  assert.ok(replayed > 0, 'I5: there is nothing to replay');
}

/** Tries again while Postgres restarts. */
function query<Row extends object>(
  stand: Stand,
  text: string,
  values: readonly unknown[],
): Promise<{ rows: Row[] }> {
  return stand.until('an answer of Postgres', async () => {
    try {
      return await stand.pool.query<Row>(text, [...values]);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return undefined;
    }
  });
}
