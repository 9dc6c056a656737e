/** Makes what people see of a turn's steps from rows. */
import { DIFFERENCES } from '#domain/schema/step.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import {
  findFirstDifference,
  listReadMessages,
  listStepCalls,
  listSteps,
  type StepCallRow,
  type StepRow,
} from '#store/turns/step-store.ts';
import { listWorkOfCalls, sumSessions, withSums } from '#store/turns/session-tree.ts';
import { listToolCalls, type ToolCallRow } from '#store/turns/tool-call-store.ts';
import type { TurnRow } from '#store/turns/turn-store.ts';

/** The steps with their calls, and what these gave to sessions that `reader` sees. */
export async function withCalls(
  db: TenantDb,
  { id: turn, session_key: session }: Pick<TurnRow, 'id' | 'session_key'>,
  steps: readonly StepRow[],
  reader: string | null,
) {
  const [first, last] = [steps[0], steps.at(-1)];
  if (!first || !last) return [];
  const calls = await listStepCalls(db, turn, first.step, last.step);
  const works = await listWorkOfCalls(
    db,
    session,
    calls.map(({ id }) => id),
    reader,
  );
  const keys = works.flatMap(({ session_key: key }) => key ?? []);
  const sums = await sumSessions(db, keys, reader);
  const shown = Map.groupBy(
    works.map((work) => withSums(work, sums)),
    ({ call_id }) => call_id,
  );
  const byStep = Map.groupBy(calls, ({ step }) => step);
  return steps.map((row) => ({
    ...row,
    calls: (byStep.get(row.step) ?? []).map((call) => ({
      ...call,
      approval: approvalOf(call),
      work: shown.get(call.id) ?? [],
    })),
  }));
}

function approvalOf({ approval_id: id, asked_at, ...call }: StepCallRow) {
  if (id === null || call.status === null || asked_at === null) return null;
  return { ...call, id, status: call.status, created_at: asked_at };
}

const WHOLE = 1_000_000;

/** One step with all that was read, said and called; undefined before its model has answered. */
export async function readStep<Shown>(
  db: TenantDb,
  turn: TurnRow,
  number: number,
  reader: string | null,
  show: (row: ToolCallRow) => Shown,
) {
  const [row] = await listSteps(db, turn.id, 1, number - 1, WHOLE);
  if (row?.step !== number) return undefined;
  const [step] = await withCalls(db, turn, [row], reader);
  const messages = await listReadMessages(db, { session: turn.session_key, turn: turn.id }, row);
  const calls = await listToolCalls(db, turn.id, MAX_CALLS, [number - 2, WHOLE], number);
  if (!step) return undefined;
  return {
    ...step,
    after_position: Number(messages[0]?.position ?? row.position) - 1,
    messages,
    results: calls.filter((call) => call.step < number).map(show),
    tool_calls: calls.filter((call) => call.step === number).map(show),
  };
}

/** More than an answer can ask for. */
const MAX_CALLS = 1_000;

export async function compareTurns(db: TenantDb, turn: string, other: string) {
  const found = await findFirstDifference(db, turn, other);
  if (!found) return null;
  return {
    step: found.step,
    differs: found.end ? (['end'] as const) : DIFFERENCES.filter((name) => found[name]),
  };
}
