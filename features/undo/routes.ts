/** Serves the undo of a turn: the plan, and the turn that reverses its calls. */
import { randomBytes } from 'node:crypto';
import { realArgs } from '#activities/tool-call/plan-calls.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { reachableTurn } from '#api/found.ts';
import { contextOf, endOf } from '#api/routes/turns/messages.ts';
import { serveResource } from '#api/serve-resource.ts';
import type { Caller } from '#api/server/auth.ts';
import { submitMessage } from '#api/submit-message.ts';
import { hasEnded, waitForTurn } from '#api/turn-wait.ts';
import { Failure, fieldFailure } from '#domain/errors.ts';
import { turnIdOf } from '#domain/ids.ts';
import type { Redirect, Tool } from '#policy/define-tool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findTurn, type TurnRow } from '#store/turns/turn-store.ts';
import { type PlannedReversal, planUndo } from './plan.ts';
import { MAX_REVERSED, turnUndo } from './resource.ts';
import { claimUndo, readCallsToUndo, reversalOf, type UndoRow } from './store.ts';

/** A call and what reverses it. */
interface Chosen {
  readonly id: string;
  readonly by: Redirect;
}

type ToolOf = (name: string) => Tool | undefined;

export function addRoutes(app: Api, deps: ApiDeps): void {
  serveResource(app, turnUndo, {
    async planUndo({ caller, params: { id } }) {
      const turn = await reachableTurn(deps.pool, caller, id);
      return turn && show(deps, caller, turn, undefined);
    },
    async undoTurn({ caller, params: { id }, body, query, reply }) {
      const turn = await reachableTurn(deps.pool, caller, id);
      if (!turn) return undefined;
      if (!hasEnded(turn)) throw new Failure('Conflict', `The turn ${id} is ${turn.status}; stop it first`);
      const undo = await submit(deps, caller, turn, body.calls);
      const ended =
        undo === undefined ? undefined : await untilEnded(deps, caller, turn, undo, query.wait, endOf(reply));
      if (undo !== undefined && !hasEnded(ended)) reply.code(202);
      return show(deps, caller, turn, undo);
    },
  });
}

/** Resolves with the id of the turn that reverses; undefined when nothing is to be reversed. Safe to repeat. */
async function submit(
  deps: ApiDeps,
  caller: Caller,
  turn: TurnRow,
  requested: readonly string[] | undefined,
): Promise<string | undefined> {
  const { tenant } = caller;
  const db = forTenant(deps.pool, tenant);
  const toolOf = await toolsOf(deps, caller, turn);
  const { message, chosen, running } = await claimUndo(db, turn, (rows) => {
    const plan = planRows(deps, tenant, rows, toolOf);
    const left = leftBehind(plan, rows);
    const running = plan.find(({ call }) => call.reversal)?.call.reversal?.turn;
    if (left) return { ...left, calls: [], running };
    const fresh = choose(plan, requested);
    const id = `msg_${randomBytes(16).toString('hex')}`;
    return { message: id, chosen: fresh, calls: fresh.map((one) => one.id), running };
  });
  if (chosen.length === 0) return running;
  await submitMessage(deps, tenant, {
    id: message,
    repeatable: true,
    session: turn.session_key,
    text: `${chosen.length === 1 ? 'A call' : `${chosen.length} calls`} of ${turn.id} reversed by the API`,
    mode: 'queue',
    // The same person’s files and credentials as when they were made.
    context: contextOf(caller, { user: caller.user ?? turn.user ?? undefined }),
    calls: chosen.map(({ by }) => ({ tool: by.tool, args: by.args })),
    confinedTo: caller.confinedTo,
  });
  return turnIdOf(message);
}

async function toolsOf({ policy }: ApiDeps, caller: Caller, turn: TurnRow): Promise<ToolOf> {
  const catalog = await policy.catalogs.of(caller.tenant, turn.agent_key);
  return (name) => catalog.find(name)?.tool;
}

function planRows(
  { secrets }: ApiDeps,
  tenant: string,
  rows: readonly UndoRow[],
  toolOf: ToolOf,
): readonly PlannedReversal[] {
  const calls = rows.map((row) => ({
    ...row,
    args: realArgs(secrets.sealer, tenant, row),
    reversal: reversalOf(row),
  }));
  return planUndo(calls, toolOf);
}

/**
 * Calls that an earlier request has claimed and not submitted, because its process ended in between, or not yet. The
 * same message is submitted again, so it must have the same calls. @throws Failure Conflict when it cannot
 */
function leftBehind(
  plan: readonly PlannedReversal[],
  rows: readonly UndoRow[],
): { readonly message: string; readonly chosen: readonly Chosen[] } | undefined {
  const absent = plan.filter(({ call }) => call.reversal?.status === 'absent');
  const turn = absent[0]?.call.reversal?.turn;
  if (turn === undefined) return undefined;
  const nth = new Map(rows.map((row) => [row.id, Number(row.undo_call?.split('.').at(-1) ?? 0)]));
  const chosen = absent
    .filter(({ call }) => call.reversal?.turn === turn)
    .map(({ call, by, reason }) => {
      if (by) return { id: call.id, by };
      throw new Failure(
        'Conflict',
        `An undo was cut off, and ${call.id} can no longer be reversed: ${reason}`,
      );
    })
    .toSorted((one, other) => (nth.get(one.id) ?? 0) - (nth.get(other.id) ?? 0));
  return { message: turn.replace(/^turn_/, 'msg_'), chosen };
}

/** @throws Failure InvalidInput for a requested call that cannot be reversed */
function choose(
  plan: readonly PlannedReversal[],
  requested: readonly string[] | undefined,
): readonly Chosen[] {
  for (const id of requested ?? []) {
    const found = plan.find(({ call }) => call.id === id);
    if (!found) throw fieldFailure('InvalidInput', 'body/calls', `${id} is no call of this turn`);
    if (found.action === 'unknown' || found.action === 'irreversible')
      throw fieldFailure('InvalidInput', 'body/calls', `${id} cannot be reversed: ${found.reason}`);
  }
  return plan
    .flatMap(({ call, action, by }) => (action === 'reverse' && by ? [{ id: call.id, by }] : []))
    .filter(({ id }) => requested?.includes(id) ?? true)
    .slice(0, MAX_REVERSED);
}

function untilEnded(
  deps: ApiDeps,
  { tenant }: Caller,
  { session_key: session }: TurnRow,
  id: string,
  seconds: number,
  signal: AbortSignal,
): Promise<TurnRow | undefined> {
  const isDone = (row: TurnRow): boolean => hasEnded(row) || row.status === 'waiting_approval';
  return waitForTurn(deps, { tenant, session, id }, { seconds, signal, isDone });
}

async function show(deps: ApiDeps, caller: Caller, turn: TurnRow, undo: string | undefined) {
  const db = forTenant(deps.pool, caller.tenant);
  const rows = await readCallsToUndo(db, turn.id);
  const scrubber = await deps.secrets.vault.scrubberOf(caller.tenant);
  const plan = planRows(deps, caller.tenant, rows, await toolsOf(deps, caller, turn));
  const shown = new Map(rows.map(({ id, args }) => [id, args]));
  return {
    turn_id: turn.id,
    undo_turn_id: undo ?? null,
    status: undo === undefined ? null : ((await findTurn(db, undo))?.status ?? 'queued'),
    calls: plan.map(({ call, action, reason, by }) => ({
      call_id: call.id,
      tool: call.tool,
      args: { ...shown.get(call.id) },
      action,
      reason,
      by: by && { tool: by.tool, args: { ...scrubber.args(by.args) } },
    })),
  };
}
