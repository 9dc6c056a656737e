/** Takes what a client of a protocol sends about calls that wait: results of its own tools, and decisions. */
import { Failure } from '#domain/errors.ts';
import { type ApprovalRow, findVisibleApproval } from '#store/approvals/approval-store.ts';
import { findRequest } from '#store/event-store.ts';
import { forTenant, type TenantDb } from '#store/postgres/tenant-db.ts';
import { decideAs, type DecisionBody } from './approvals/decide-as.ts';
import type { ApiDeps } from './deps.ts';
import { reachableSession } from './found.ts';
import { type Caller, requireScope } from './server/auth.ts';
import type { StartedTurn } from './turn-follower.ts';

export interface CallAnswers {
  /** `call`: the id of the approval of a tool that the client runs. */
  readonly results: readonly { readonly call: string; readonly text: string }[];
  readonly decisions: readonly {
    readonly approval: string;
    readonly approve: boolean;
    /** With an approval: the whole arguments to run instead, or the answer to a form. */
    readonly args?: Readonly<Record<string, unknown>> | undefined;
    readonly reason?: string | undefined;
  }[];
}

export interface AnsweredTurn extends StartedTurn {
  /** Ids of the calls that were decided, whose results the turn has next. */
  readonly decided: readonly string[];
}

/** A step makes at most as many calls, and only those of the last one can wait. */
const MAX_ANSWERS = 64;

/**
 * Sends results and decisions; undefined when there are none. A repeated one changes nothing. `session`: the one that the
 * client means, where it names one.
 */
export async function answerCalls(
  deps: ApiDeps,
  caller: Caller,
  { results, decisions }: CallAnswers,
  session?: string,
): Promise<AnsweredTurn | undefined> {
  const bodies = bodiesOf([
    ...results.map(({ call, text }) => [call, { decision: 'respond', text: cutResult(text) }] as const),
    ...decisions.map((one) => [one.approval, decisionOf(one)] as const),
  ]);
  const ids = [...bodies.keys()].slice(-MAX_ANSWERS);
  if (ids.length === 0) return undefined;
  const db = forTenant(deps.pool, caller.tenant);
  const found = await Promise.all(ids.map((id) => findVisibleApproval(db, caller, id)));
  const rows = found.flatMap((row) => row ?? []);
  const turn = rows.length < ids.length ? undefined : await turnOf(db, rows);
  // Approvals of nobody's turns are seen by all, but only who reaches the conversation speaks in it.
  const isMeant = turn && (session === undefined || turn.session === session);
  if (!isMeant || !(await reachableSession(deps.pool, caller, turn.session)))
    throw new Failure('NotFound', 'There is no such call; its conversation may have been forgotten');
  for (const row of rows) {
    if (row.status !== 'pending') continue;
    const body = bodies.get(row.id);
    if (!body) continue;
    if (body.decision !== 'respond') requireScope(caller, 'approve');
    else if (!row.terms.client_tool)
      throw new Failure('InvalidInput', `${row.id} is no call of a tool of yours; it needs a decision`);
    await decideAs(deps, caller, row, { ...body, digest: row.digest });
  }
  const decided = rows.flatMap(({ id, call_id }) =>
    bodies.get(id)?.decision === 'respond' ? [] : [call_id],
  );
  return { ...turn, decided };
}

/** @throws Failure InvalidInput when one request answers the same call in two ways */
function bodiesOf(answers: readonly (readonly [id: string, DecisionBody])[]): Map<string, DecisionBody> {
  const bodies = new Map<string, DecisionBody>();
  for (const [id, body] of answers) {
    const other = bodies.get(id);
    if (other && JSON.stringify(other) !== JSON.stringify(body))
      throw new Failure('InvalidInput', `${id.slice(0, 200)} is answered in two ways; answer it once`);
    bodies.set(id, body);
  }
  return bodies;
}

function decisionOf({ approve, args, reason }: CallAnswers['decisions'][number]): DecisionBody {
  if (!approve) return { decision: 'reject', reason };
  return args ? { decision: 'edit', args } : { decision: 'approve' };
}

/** The turn that the client follows: the one that made the calls, or that waits for the work that did. */
async function turnOf(db: TenantDb, rows: readonly ApprovalRow[]): Promise<StartedTurn | undefined> {
  const requests = await Promise.all(rows.map((row) => findRequest(db, row.session_key, row.id)));
  const [first] = requests;
  if (!first) return undefined;
  if (requests.some((one) => one?.turn !== first.turn))
    throw new Failure('InvalidInput', 'The answers are to calls of several turns; send those of one');
  const times = requests.map((one) => one?.decided);
  // What follows answers that were all sent before is sent again.
  const isNew = times.includes(undefined);
  return {
    session: first.session,
    id: first.turn,
    after: isNew ? first.last : Math.max(...times.map(Number)),
  };
}

/** What a decision takes. */
const MAX_RESULT = 16_384;

function cutResult(text: string): string {
  if (text.length <= MAX_RESULT) return text || '(no output)';
  const end = `\n[cut: ${text.length} characters]`;
  return `${text.slice(0, MAX_RESULT - end.length)}${end}`;
}
