/**
 * F11: the workers' clocks are an hour ahead, the API's an hour behind, and later the other way round. The database's
 * and Temporal's clocks decide whatever depends on a time.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';

const HOUR = 3_600_000;
const EXPIRES_SECONDS = 6;
/** At each of the two skews, how many expire, and how many are decided. */
const EACH = Number(process.env['TEST_ROUNDS'] ?? 2);
/** Far more than a busy machine is late, far less than the clocks are wrong. */
const TOLERANCE_SECONDS = 30;

describe('F11 wrong clocks', { timeout: 300_000 }, () => {
  let stand: Stand;
  const accepted: (Accepted & { readonly expires: boolean })[] = [];
  before(async () => {
    stand = await createStand({
      workers: 1,
      clocks: { workers: HOUR, api: -HOUR },
      agents: [
        { key: 'asks', type: 'open', model: 'rehearsal/follow', exec: { security: 'full', ask: 'always' } },
        {
          key: 'asks-shortly',
          type: 'open',
          model: 'rehearsal/follow',
          exec: { security: 'full', ask: 'off' },
          tools: { ask: [{ tool: 'exec', expires_seconds: EXPIRES_SECONDS }] },
        },
      ],
    });
  });
  after(() => stand?.close());

  async function ask(name: string, n: number, expires: boolean): Promise<Accepted> {
    const tenant = stand.tenants[n % 2] as Tenant;
    const token = `${tenant.id}-${name}-${n}`;
    const command = `echo ${token} >> ${stand.witnessFile}`;
    const body = {
      text: `exec ${JSON.stringify({ command })}\nthen\nwait {"timeMs":300,"reason":"tea"}`,
      agent: expires ? 'asks-shortly' : 'asks',
    };
    const message = { tenant, session: token, turn: await stand.say(tenant, token, token, body), token };
    accepted.push({ ...message, expires });
    return message;
  }

  async function approve({ tenant, turn }: Accepted): Promise<void> {
    const reply = await stand.until(`a decision for ${turn}`, async () => {
      const list = await stand.ask(tenant, 'GET', `/v1/approvals?turn_id=${turn}`);
      const [first] = (list?.body['data'] ?? []) as { id: string }[];
      if (!first) return undefined;
      const body = { decision: 'approve' };
      const answer = await stand.ask(tenant, 'POST', `/v1/approvals/${first.id}/decision`, { body });
      return answer && answer.status !== 503 ? answer : undefined;
    });
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
  }

  async function atOneSkew(name: string): Promise<void> {
    const numbers = Array.from({ length: EACH }, (_, n) => n);
    await Promise.all(numbers.map((n) => ask(`${name}-expires`, n, true)));
    const decided = await Promise.all(numbers.map((n) => ask(`${name}-decided`, n, false)));
    await Promise.all(decided.map(approve));
  }

  it(`${2 * EACH} approvals expire and ${2 * EACH} are decided, while all clocks jump by two hours`, async (t) => {
    await atOneSkew('ahead');
    // The jump comes while approvals wait and timers run.
    for (const part of [stand.api, ...stand.workers]) process.kill(part.pid ?? assert.fail(), 'SIGUSR2');
    await atOneSkew('behind');
    await untilAllEnded(stand, accepted);
    t.diagnostic(`n = ${accepted.length}`);
  });

  it('what expired did so at its time, which the row and the feed name alike', async () => {
    const { rows } = await stand.pool.query<{
      session: string;
      status: string;
      lasted: number;
      given: number;
      told: boolean;
    }>(
      `select a.session_key as session, a.status, extract(epoch from a.decided_at - a.created_at)::float as lasted,
         extract(epoch from a.expires_at - a.created_at)::float as given,
         (e.data ->> 'expires_at')::timestamptz = a.expires_at as told
       from approvals a join events e on e.tenant_id = a.tenant_id and e.session_key = a.session_key
         and e.type = 'approval.requested'`,
    );
    assert.equal(rows.length, accepted.length);
    for (const { session, status, lasted, given, told } of rows) {
      const expires = session.includes('-expires-');
      assert.deepEqual([status, told], [expires ? 'expired' : 'approved', true], session);
      if (!expires) continue;
      assert.ok(Math.abs(given - EXPIRES_SECONDS) < TOLERANCE_SECONDS, `${session} was given ${given} s`);
      assert.ok(Math.abs(lasted - EXPIRES_SECONDS) < TOLERANCE_SECONDS, `${session} lasted ${lasted} s`);
    }
  });

  it('what is written down is in its order: nothing ends before it begins', async () => {
    const { rows } = await stand.pool.query(
      `select id from turns where ended_at < started_at or started_at < created_at - interval '1 minute'
       union all select id from tool_calls where ended_at < started_at`,
    );
    assert.deepEqual(rows, []);
  });

  it('the witness finds I1–I6 kept', () => checkInvariants(stand, accepted));
});
