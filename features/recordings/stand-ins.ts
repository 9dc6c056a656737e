/** Answers in sessions of replays: from a recording, whose every step is compared, or from a script. */
import type { StandIns } from '#activities/stand-ins.ts';
import type { CallPlan } from '#activities/tool-call/plan-calls.ts';
import type { Step } from '#activities/turn/step.ts';
import { Failure } from '#domain/errors.ts';
import type { ModelAnswer } from '#domain/model/model.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { ScrubberOf } from '#store/secrets/scrubber.ts';
import type { NewCall } from '#store/turns/answer-record.ts';
import { digestPrompt, differenceOf } from './prompt-digest.ts';
import { callDifference, settledCall } from './recorded-calls.ts';
import type { Place } from './replay-place.ts';
import type { Difference, Recording } from './schema.ts';
import { isScript, settleByScript } from './script.ts';
import { findReplay, keepPart, noteDifference, noteUsed, ordinalOf, type ReplayRow } from './store.ts';
import { settleWhatIf } from './what-if/settle.ts';

/** Replays kept in memory; each has at most the size of a request. */
const KEPT = 16;

export function createStandIns(pool: Pool, scrubberOf: ScrubberOf): StandIns {
  const kept = new Map<string, ReplayRow>();

  async function replayOf({
    tenant,
    session,
    context,
  }: Pick<Step, 'tenant' | 'session' | 'context'>): Promise<ReplayRow> {
    const id = context.stand_ins ?? '';
    const known = kept.get(`${tenant}/${id}`) ?? (await findReplay(forTenant(pool, tenant), id));
    // The context of a message is a claim of its sender; that of a replay's session is in its row.
    if (known?.session_key !== session)
      throw new Failure('NotRecorded', `there is no replay ${id} for this session`);
    kept.delete(`${tenant}/${id}`);
    kept.set(`${tenant}/${id}`, known);
    for (const oldest of kept.keys()) if (kept.size > KEPT) kept.delete(oldest);
    return known;
  }

  async function placeOf(step: Step, replay: ReplayRow): Promise<Place> {
    const db = forTenant(pool, step.tenant);
    const turn = await ordinalOf(db, step.session, step.turn);
    const recording = replay.stand_ins as Recording;
    const recordedTurn = recording.turns[turn - 1];
    const recordedStep = recordedTurn?.steps[step.step - 1];
    const at = { session: step.session, turnId: step.turn, turn, step: step.step };
    return { db, replay, recording, ...at, recordedTurn, recordedStep };
  }

  return {
    async decidedBy(step, inForce) {
      const { change } = await replayOf(step);
      if (!change) return inForce;
      const { agent = inForce.agent, policy = inForce.tenant_policy } = change;
      return { agent, tenant_policy: policy };
    },

    async answer(step, request, kind) {
      const replay = await replayOf(step);
      const isCalled = replay.mode === 'live' || replay.change?.models === 'called';
      if (isScript(replay.stand_ins) || isCalled) return undefined;
      const place = await placeOf(step, replay);
      if (kind === 'summary')
        return textAnswer(place.recording.summary ?? 'The earlier part is left out.', 'stop');
      const scrubber = await scrubberOf(step.tenant);
      const now = digestPrompt(request, step.session, scrubber.text);
      if (replay.mode === 'record') {
        for (const [name, part] of Object.entries(now.parts)) await keepPart(place.db, replay, name, part);
        await keepPart(place.db, replay, `${place.turn}.${place.step}`, now.prompt);
      }
      const before = place.recordedStep?.prompt;
      const found = replay.mode === 'compare' && before && differenceOf(before, place.recording.parts, now);
      if (found) throw await differs(place, found);
      return answerOf(place);
    },

    async settle(step, plan) {
      const replay = await replayOf(step);
      // That a step makes no call any more is a difference of a what-if.
      if (plan.calls.length === 0 && replay.mode !== 'what-if') return plan;
      const db = forTenant(pool, step.tenant);
      const settled = isScript(replay.stand_ins)
        ? await settleByScript(db, replay.stand_ins, step, plan)
        : await (replay.mode === 'what-if' ? settleWhatIf : settleByRecording)(
            await placeOf(step, replay),
            plan,
          );
      const ran = settled.calls.filter(({ ran }) => ran).map(({ tool, id }) => [tool, id] as const);
      await noteUsed(db, step.session, Object.fromEntries(ran.toReversed()));
      return settled;
    },
  };
}

/** @throws Failure when there is none: the turn had ended there, or failed */
async function answerOf(place: Place): Promise<ModelAnswer> {
  const { turn, step, recordedTurn, recordedStep } = place;
  if (!recordedTurn)
    throw new Failure('NotRecorded', `turn ${turn}, step ${step}: the recording has ${turn - 1} turns`);
  if (recordedStep) {
    const { text, finish, calls } = recordedStep;
    const requested = calls.map(({ called_as, args, code, result, verdict }) => ({
      name: called_as,
      args,
      // What the model wrote was no JSON, so that nothing of it was kept.
      ...(code === 'InvalidArgs' && verdict === 'deny' && Object.keys(args).length === 0
        ? { invalid: result.replace(/^InvalidArgs: /, '') }
        : {}),
    }));
    return { ...textAnswer(text, finish), calls: requested };
  }
  if (recordedTurn.status !== 'completed') {
    const { code, message } = recordedTurn.error ?? { code: recordedTurn.status, message: 'it was stopped' };
    throw new Failure('ModelFailed', `as recorded: ${code}: ${message}`);
  }
  throw await differs(place, { part: 'end', message: 'the turn goes on where the recorded one had ended' });
}

/** Nothing is paid for. */
function textAnswer(text: string, finish: ModelAnswer['finish']): ModelAnswer {
  return { text, calls: [], finish, usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 } };
}

async function differs(
  { db, replay, turn, step }: Pick<Place, 'db' | 'replay' | 'turn' | 'step'>,
  found: Pick<Difference, 'part' | 'message'>,
): Promise<Failure> {
  const difference = { turn, step, ...found };
  await noteDifference(db, replay.id, difference);
  return new Failure('RecordingDiffers', `turn ${turn}, step ${step}: ${found.message}`, { difference });
}

async function settleByRecording(place: Place, plan: CallPlan): Promise<CallPlan> {
  const recorded = place.recordedStep?.calls ?? [];
  const { db, replay, turn, step } = place;
  const verdicts = plan.calls.map(({ verdict }) => verdict);
  if (replay.mode === 'record') await keepPart(db, replay, `${turn}.${step}.verdicts`, verdicts);
  const calls: NewCall[] = [];
  for (const call of plan.calls) {
    const before = recorded[call.index];
    if (!before)
      throw new Failure(
        'NotRecorded',
        `turn ${turn}, step ${step}: the recording has no call ${call.index + 1}, and ${call.tool} is not run`,
      );
    const found = replay.mode === 'record' ? undefined : callDifference(call, before);
    if (found) throw await differs(place, found);
    calls.push(settledCall(call, before));
  }
  return { calls, approvals: [], planned: [], uses: plan.uses };
}
