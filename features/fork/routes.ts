/** Serves forks of sessions: the request becomes a row, and a workflow makes the fork. */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { canonical } from '#activities/tool-call/call-digest.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { reachableSession } from '#api/found.ts';
import { contextOf, endOf } from '#api/routes/turns/messages.ts';
import { type Call, serveResource } from '#api/serve-resource.ts';
import { type Caller, requireScope } from '#api/server/auth.ts';
import { stemOf } from '#api/server/idempotency.ts';
import { readTimePage } from '#api/server/pages.ts';
import { refuseSecretIds } from '#api/server/refuse-secrets.ts';
import { Failure, fieldFailure, isFailureType } from '#domain/errors.ts';
import { findAgent } from '#store/agent-store.ts';
import type { Scrubber } from '#store/secrets/scrubber.ts';
import { forTenant, type TenantDb } from '#store/postgres/tenant-db.ts';
import type { SessionRow } from '#store/turns/session-store.ts';
import { changedCall } from './changed-call.ts';
import type { ForkInput } from './contract.ts';
import { sealInput } from './fork-input.ts';
import { pointOf } from './make-rows.ts';
import { forks } from './resource.ts';
import { forkStart } from './start-fork.ts';
import { findPlace, type RequestedPoint } from './store/find-point.ts';
import { claimFork, findFork, type ForkRow, listForks } from './store/fork-store.ts';

type CreateCall = Call<(typeof forks.operations)['createFork']>;
type Body = CreateCall['body'];

const LOOK_MS = [20, 50, 100, 250] as const;

export function addRoutes(app: Api, deps: ApiDeps): void {
  serveResource(app, forks, {
    async createFork(call) {
      const { caller, params, reply, query } = call;
      const session = await reachableSession(deps.pool, caller, params.key);
      if (!session) return undefined;
      const claimed = await claim(deps, call, session);
      const isUnderWay = claimed.status !== 'open' || (await start(deps, claimed, caller.tenant));
      // Otherwise the sweep starts it when Temporal is there again.
      const seconds = isUnderWay ? query.wait : 0;
      const row = await untilMade(deps, caller, claimed, seconds, endOf(reply));
      if (row.status === 'failed') throw failureOf(row);
      if (row.status === 'open') reply.code(202);
      return show(row);
    },
    async listForks({ caller, db, params, query }) {
      if (!(await reachableSession(deps.pool, caller, params.key))) return undefined;
      return readTimePage(
        query,
        (limit, after) => listForks(db, params.key, limit, after),
        (row) => [row.created_text, row.session_key],
        show,
      );
    },
  });
}

/** False when Temporal does not answer. Safe to repeat. */
async function start({ temporal }: ApiDeps, { session_key }: ForkRow, tenant: string): Promise<boolean> {
  try {
    await temporal.start(forkStart(tenant, session_key));
    return true;
  } catch (error) {
    if (error instanceof Failure && error.type === 'Unavailable') return false;
    throw error;
  }
}

/** Writes the request, or finds it. Everything that can be refused at once is. */
async function claim(deps: ApiDeps, call: CreateCall, session: SessionRow): Promise<ForkRow> {
  const { caller, db, body, params, request, by } = call;
  const { sealer, vault } = deps.secrets;
  refuseOthersSession(caller, session);
  const scrubber = await vault.scrubberOf(caller.tenant);
  const stem = stemOf(request, caller, 'fork', params.key);
  const session_key = body.key ?? `fork-${(stem ?? randomBytes(16).toString('hex')).slice(0, 24)}`;
  refuseSecretIds(scrubber, { key: session_key }, 'body');
  const digest = digestOf(params.key, body, session.user_id);
  const there = await findFork(db, session_key);
  // A repeat is answered as it was, whatever has become of the session since.
  if (there?.digest === digest && there.status !== 'failed') return there;
  const agent_key = await agentOf(db, caller, session, body.agent);
  const { point, input } = await readInput(deps, db, params.key, body, scrubber);
  const place = await findPlace(db, point);
  const context = contextOf(caller, { agent: agent_key, user: session.user_id ?? undefined });
  const { tenant, confinedTo } = caller;
  await deps.admitMessage(tenant, { id: session_key, session: session_key, context, confinedTo });
  return claimFork(db, {
    session_key,
    from_session: params.key,
    from_turn: place.turn.id,
    from_step: place.step,
    agent_key,
    user_id: session.user_id,
    context,
    digest,
    sealed: sealInput(sealer, caller.tenant, session_key, input),
    key_id: input.message === undefined && input.answer === undefined ? null : sealer.keyId,
    by,
  });
}

/** A fork belongs to the user of its session, whose files it gets. */
function refuseOthersSession({ user }: Caller, session: SessionRow): void {
  if (user !== null && user !== session.user_id)
    throw new Failure(
      'Forbidden',
      `The session ${session.key} is not of the user ${user}; fork it with a key of its user, or of nobody`,
    );
}

function digestOf(session: string, { key: _key, ...body }: Body, user: string | null): string {
  return createHash('sha256').update(canonical({ session, body, user })).digest('hex');
}

/** Another agent reads what this one has read, and has its files, so that not everybody may choose it. */
async function agentOf(
  db: TenantDb,
  caller: Caller,
  { agent_key }: SessionRow,
  requested: string | undefined,
): Promise<string> {
  const key = requested ?? agent_key;
  if (key !== agent_key) requireScope(caller, 'admin');
  if (await findAgent(db, key)) return key;
  throw new Failure('Unprocessable', `There is no agent ${key}; name another one (agent)`, {
    errors: [{ pointer: 'body/agent', message: 'no such agent' }],
  });
}

/** What is given in place of what was recorded, and the step at which that is. */
async function readInput(
  { secrets }: ApiDeps,
  db: TenantDb,
  session: string,
  { turn_id: turn, step, answer, call, message: words }: Body,
  scrubber: Pick<Scrubber, 'text'>,
): Promise<{ readonly point: RequestedPoint; readonly input: ForkInput }> {
  const message = words === undefined ? {} : { message: scrubber.text(words) };
  if (answer && call) throw fieldFailure('InvalidInput', 'body/call', 'give this or answer, not both');
  if (answer && step === undefined)
    throw fieldFailure('InvalidInput', 'body/step', 'an answer is given for a step; name it');
  if (call) {
    const { point, answer: changed } = await changedCall(db, secrets.sealer, session, call, { turn, step });
    return { point, input: { ...message, answer: changed } };
  }
  const calls = answer?.calls.map(({ tool, args }) => ({ name: tool, args })) ?? [];
  return {
    point: { session, turn, step },
    input: { ...message, ...(answer && { answer: { text: answer.text, calls } }) },
  };
}

/** Resolves with the row when the fork is made or refused, the time is up, or the caller is gone. */
async function untilMade(
  { pool }: ApiDeps,
  { tenant }: Caller,
  claimed: ForkRow,
  seconds: number,
  signal: AbortSignal,
): Promise<ForkRow> {
  const until = Date.now() + seconds * 1000;
  let row = claimed;
  for (let look = 0; row.status === 'open' && Date.now() < until && !signal.aborted; look += 1) {
    await sleep(LOOK_MS[Math.min(look, LOOK_MS.length - 1)]);
    row = (await findFork(forTenant(pool, tenant), claimed.session_key)) ?? row;
  }
  return row;
}

function failureOf({ error }: ForkRow): Failure {
  const { code, message } = error ?? { code: 'Internal', message: 'it could not be made' };
  return new Failure(isFailureType(code) ? code : 'Internal', message);
}

function show(row: ForkRow) {
  const { session_key, agent_key: agent, status, turn_id, result: copied, error, created_at } = row;
  return { session_key, agent, status, forked_from: pointOf(row), turn_id, copied, error, created_at };
}
