/** DU-6: the calls of a what-if. Each gets the result that the same call had in the recording, and none runs. */
import { canonical } from '#activities/tool-call/call-digest.ts';
import type { CallPlan } from '#activities/tool-call/plan-calls.ts';
import type { NewCall } from '#store/turns/answer-record.ts';
import { answeredCall } from '../answered-call.ts';
import { callDifference, hasRun, settledCall } from '../recorded-calls.ts';
import type { Place } from '../replay-place.ts';
import type { Difference, RecordedCall, Recording } from '../schema.ts';
import { noteDifference, requestedBefore } from '../store.ts';
import { NOT_RECORDED } from './not-recorded.ts';

type Call = Pick<RecordedCall, 'tool' | 'args'>;
/** The recorded call whose result a call gets. */
type Find = (call: NewCall) => RecordedCall | undefined;

/** Notes the first difference, and goes on. Safe to repeat: what was found follows from the rows of earlier steps. */
export async function settleWhatIf(place: Place, plan: CallPlan): Promise<CallPlan> {
  const { db, replay, turn, step, recordedStep } = place;
  const found = stepDifference(plan.calls, recordedStep?.calls ?? []);
  if (found) await noteDifference(db, replay.id, { turn, step, ...found });
  if (plan.calls.length === 0) return plan;
  // Models that answer as recorded make the recorded calls, also where a tool reads its arguments otherwise by now.
  const find: Find =
    replay.change?.models === 'recorded'
      ? ({ index }) => recordedStep?.calls[index]
      : await findSame(place, plan.calls);
  const calls = plan.calls.map((call) => answered(call, find(call)));
  return { calls, approvals: [], planned: [], uses: plan.uses };
}

function stepDifference(
  now: readonly NewCall[],
  before: readonly RecordedCall[],
): Pick<Difference, 'part' | 'message'> | undefined {
  for (const call of now) {
    const recorded = before[call.index];
    if (!recorded) return { part: 'call', message: `call ${call.index + 1} (${call.tool}) is new` };
    const found = callDifference(call, recorded);
    if (found) return found;
  }
  const missing = before[now.length];
  return missing && { part: 'call', message: `call ${now.length + 1} (${missing.tool}) is no longer made` };
}

/** The first same call for the first one, the second for the second; the last one for all after it. */
async function findSame(
  { db, session, turnId, step, recording }: Place,
  calls: readonly NewCall[],
): Promise<Find> {
  const tools = [...new Set(calls.map(({ tool }) => tool))];
  const seen = new Map<string, number>();
  const next = (call: Call): number => {
    const key = keyOf(call);
    const count = seen.get(key) ?? 0;
    seen.set(key, count + 1);
    return count;
  };
  for (const call of await requestedBefore(db, session, { turn: turnId, step }, tools)) next(call);
  const recorded = callsOf(recording);
  return (call) => {
    const same = recorded.get(keyOf(call)) ?? [];
    return same[next(call)] ?? same.at(-1);
  };
}

const keyOf = ({ tool, args }: Call): string => `${tool} ${canonical(args)}`;

const known = new WeakMap<Recording, ReadonlyMap<string, readonly RecordedCall[]>>();

function callsOf(recording: Recording): ReadonlyMap<string, readonly RecordedCall[]> {
  const all =
    known.get(recording) ??
    Map.groupBy(
      recording.turns.flatMap(({ steps }) => steps.flatMap(({ calls }) => calls)),
      keyOf,
    );
  known.set(recording, all);
  return all;
}

/**
 * A call about which rules ask now and did not before counts as approved. What a person or rules had refused, and what
 * a person had changed, has no result for a call that needs nobody now.
 */
function answered(now: NewCall, before: RecordedCall | undefined): NewCall {
  if (now.state === 'done') return now;
  const isByPerson = before !== undefined && (before.edited !== undefined || !hasRun(before));
  const isSettled = before !== undefined && (!isByPerson || before.hooked || needsPersonAgain(now, before));
  if (isSettled) return settledCall(now, before);
  return answeredCall(now, { ok: false, code: 'ExecutionFailed', text: NOT_RECORDED, isRun: false });
}

function needsPersonAgain(now: NewCall, before: RecordedCall): boolean {
  return now.verdict === 'ask' && before.approval !== undefined;
}
