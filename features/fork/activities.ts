/**
 * Makes a fork: its files first, then its rows in one commit, then its run. Whatever dies in between, a repeat finds what
 * is there; without the rows nobody sees the files, and the repeat replaces nothing of a fork that is there.
 */
import { Context } from '@temporalio/activity';
import { activityFailure, failingAs } from '#activities/activity-failure.ts';
import { FAILURES, Failure } from '#domain/errors.ts';
import { errnoOf, FileProblem } from '#activities/workspace/file-problem.ts';
import type { Files } from '#activities/workspace/contract.ts';
import type { Workspaces } from '#activities/workspace/workspaces.ts';
import { ownSuffix, type WorkspaceOf } from '#activities/workspace/workspace-folder.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import type { AgentCatalogs } from '#policy/agent-catalogs.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Sealer } from '#store/seal.ts';
import type { ScrubberOf } from '#store/secrets/scrubber.ts';
import { sessionWorkflowId } from '#domain/ids.ts';
import {
  AGENT_TURN,
  type AgentTurnInput,
  type Carry,
  INBOX_LIMITS,
  type QueuedTurn,
} from '#domain/turn/turn.ts';
import { findAgent } from '#store/agent-store.ts';
import { readRows } from '#store/postgres/statements.ts';
import { forTenant, type TenantDb } from '#store/postgres/tenant-db.ts';
import { findSession, forkOfSession } from '#store/turns/session-store.ts';
import { findTurn } from '#store/turns/turn-store.ts';
import type { ForkActivities, ForkOutcome, ForkSessionInput } from './contract.ts';
import { openInput } from './fork-input.ts';
import { makeForkRows } from './make-rows.ts';
import { emptyWorkspace, type Folders, makeForkWorkspace } from './make-workspace.ts';
import { findPlace, type ForkPlace } from './store/find-point.ts';
import { findFork, type ForkRow, noteFailed, taken } from './store/fork-store.ts';
import { laterCalls } from './store/later-calls.ts';

export interface ForkDeps {
  readonly pool: Pool;
  readonly sealer: Sealer;
  readonly scrubberOf: ScrubberOf;
  readonly catalogs: AgentCatalogs;
  readonly workspaceOf: WorkspaceOf;
  readonly files: Pick<Files, 'hold' | 'keep'>;
  readonly workspaces: Pick<Workspaces, 'remove'>;
  readonly reach: Pick<WorkflowReach, 'start'>;
  /** Called after each commit that has added events to a session's feed. */
  readonly onWrite: (tenant: string, session: string) => void;
  readonly journalDir: string;
  readonly deniedPaths: readonly string[];
}

export function createForkActivities(deps: ForkDeps): ForkActivities {
  return { fork_session: failingAs(activityFailure, (input) => forkSession(deps, input)) };
}

async function forkSession(deps: ForkDeps, { tenant, session }: ForkSessionInput): Promise<ForkOutcome> {
  const db = forTenant(deps.pool, tenant);
  const found = await findFork(db, session);
  // Its session was forgotten meanwhile.
  if (!found) return { status: 'failed', turn_id: null, code: 'NotFound' };
  let row = found;
  if (row.status === 'open')
    try {
      row = await make(deps, db, row);
    } catch (error) {
      const failure = refusalOf(error);
      if (!failure) throw error;
      row = await fail(deps, db, row, failure);
    }
  if (row.status !== 'done') return { status: 'failed', turn_id: null, code: row.error?.code ?? 'Internal' };
  deps.onWrite(tenant, session);
  await startRun(deps, db, row);
  return { status: 'done', turn_id: row.turn_id };
}

/** A disk that fails this often fails again. */
const FILE_ATTEMPTS = 5;

/** What the request cannot have; undefined for what a later attempt may not meet. */
function refusalOf(error: unknown): Failure | undefined {
  if (error instanceof FileProblem && error.code !== 'Timeout')
    return new Failure('Unprocessable', `The workspace cannot be copied: ${error.message}`);
  if (error instanceof Failure) return FAILURES[error.type].retryable ? undefined : error;
  const code = errnoOf(error);
  if (code === undefined || Context.current().info.attempt < FILE_ATTEMPTS) return undefined;
  return new Failure(
    'Unprocessable',
    `The workspace cannot be copied: ${code}; look at the disk and the rights of its files`,
  );
}

/** Nothing of the fork is left; a session that has its key since stays. */
async function fail(
  { workspaces }: ForkDeps,
  db: TenantDb,
  row: ForkRow,
  { type, message }: Failure,
): Promise<ForkRow> {
  const { session_key: session } = row;
  if (!(await findSession(db, session)))
    await workspaces.remove(db.tenant, ownSuffix('session', session), () => Promise.resolve());
  await noteFailed(db, session, { code: type, message });
  return (await findFork(db, session)) ?? row;
}

async function make(deps: ForkDeps, db: TenantDb, row: ForkRow): Promise<ForkRow> {
  const { from_session: session, from_turn: turn, from_step, session_key: fork } = row;
  const refuseTaken = async (): Promise<void> => {
    if (await findSession(db, fork)) throw taken(fork);
  };
  await refuseTaken();
  const place = await findPlace(db, { session, turn, step: from_step ?? undefined });
  const folders = await foldersOf(deps, db, row, place);
  const catalog = await deps.catalogs.of(db.tenant, place.agent);
  const workspace = {
    db,
    pool: deps.pool,
    sealer: deps.sealer,
    files: deps.files,
    journalDir: deps.journalDir,
    deniedPaths: deps.deniedPaths,
    toolOf: (name: string) => catalog.find(name)?.tool,
    signal: Context.current().cancellationSignal,
  };
  const later = () => laterCalls(db, place);
  const { copied, isFirst } = await makeForkWorkspace(workspace, folders, later, refuseTaken);
  try {
    return await makeForkRows(db, deps.sealer, row, openInput(deps.sealer, db.tenant, row), copied);
  } catch (error) {
    const isRefused = error instanceof Failure && error.type === 'Conflict';
    if (isRefused && isFirst && (await findSession(db, fork))) await emptyWorkspace(workspace, folders.to);
    throw error;
  }
}

async function foldersOf(deps: ForkDeps, db: TenantDb, row: ForkRow, place: ForkPlace): Promise<Folders> {
  const [before, after] = [await findAgent(db, place.agent), await findAgent(db, row.agent_key)];
  if (!before || !after)
    throw new Failure('NotFound', `There is no agent ${before ? row.agent_key : place.agent} any more`);
  const forkBefore = await forkOfSession(db, place.session);
  const { workspaceOf } = deps;
  const user = place.user ?? undefined;
  const from = workspaceOf(db.tenant, before.config, {
    session: place.session,
    user,
    fork: forkBefore,
  });
  const fork = { session: row.session_key };
  const to = workspaceOf(db.tenant, after.config, { session: row.session_key, user, fork });
  return { from: from.workspace, template: from.workspaceFrom, to: to.workspace };
}

/** Starts what goes on, unless it has begun or ended. */
async function startRun({ reach, scrubberOf }: ForkDeps, db: TenantDb, row: ForkRow): Promise<void> {
  const { session_key: session, turn_id: turn, from_step: step, agent_key: agent, user_id: user } = row;
  if (turn === null) return;
  const there = await findTurn(db, turn);
  if (there && ['completed', 'failed', 'stopped'].includes(there.status)) return;
  const messages = await readRows<{ id: string; text: string }>(db)`
    select id, left(text, 2000) as text from messages where tenant_id = ${db} and session_key = ${session}
      and role = 'user' and (turn_id = ${turn} or turn_id is null and position is null) order by position`;
  if (messages.length === 0) return;
  const scrubber = await scrubberOf(db.tenant);
  const preview = scrubber.preview(messages[0]?.text ?? '', INBOX_LIMITS.preview);
  const held = messages.map(({ id }) => ({ id, ...(user !== null && { user }) }));
  const going: QueuedTurn = { turnId: turn, messages: held, preview };
  const seen = held.map(({ id }) => [id, turn] as const);
  const carry: Carry =
    step === null
      ? { queue: [going], seen }
      : { queue: [], seen, resume: { turn: going, step, steering: [], settle: [] } };
  const input: AgentTurnInput = { tenant: db.tenant, session_key: session, carry };
  await reach.start({
    type: AGENT_TURN.type,
    id: sessionWorkflowId(db.tenant, session),
    input,
    summary: `${agent}: fork of ${row.from_session}`,
    tenant: db.tenant,
    session,
    agent,
    user: user ?? undefined,
  });
}
