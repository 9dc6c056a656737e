/** Answers calls by a script: the test says what tools answer and what people decide. */
import { canonical } from '#activities/tool-call/call-digest.ts';
import type { CallPlan } from '#activities/tool-call/plan-calls.ts';
import type { Step } from '#activities/turn/step.ts';
import { Failure } from '#domain/errors.ts';
import { storableText } from '#domain/text/storable-text.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import type { NewCall } from '#store/turns/answer-record.ts';
import type { Recording, Script, ScriptedAnswer } from './schema.ts';
import { answeredCall } from './answered-call.ts';
import { callsBefore, type EarlierCall } from './store.ts';

export function isScript(standIns: Recording | Script): standIns is Script {
  return !('recording' in standIns);
}

/** Which answers are used up follows from the calls before, so a repeat gives the same ones. */
export async function settleByScript(
  db: TenantDb,
  script: Script,
  { session, turn, step }: Pick<Step, 'session' | 'turn' | 'step'>,
  plan: CallPlan,
): Promise<CallPlan> {
  const take = createTaker(script);
  for (const call of await callsBefore(db, session, turn, step)) take(call);
  const calls = plan.calls.map((call): NewCall => {
    if (call.state === 'done') return call;
    if (call.verdict === 'ask') {
      const decision = script.approvals[call.tool] ?? script.approvals['*'];
      if (decision === undefined)
        throw new Failure(
          'NotRecorded',
          `step ${step}: ${call.tool} waits for an approval (${call.reason}), and the test has no approvals.${call.tool}`,
        );
      if (decision === 'deny') {
        const text = 'ApprovalDenied: denied; the call has not run';
        return answeredCall(call, { ok: false, code: 'ApprovalDenied', text, isRun: false });
      }
    }
    const answer = take(call);
    if (!answer) throw missing(script, call, step);
    const { code = null, text } = answer;
    const words = storableText(code === null ? text : `${code}: ${text}`);
    return answeredCall(call, { ok: code === null, code, text: words, isRun: true });
  });
  return { calls, approvals: [], planned: [], uses: plan.uses };
}

/** Takes the first answer for a call that is not used up. */
function createTaker({ tools }: Script): (call: EarlierCall) => ScriptedAnswer | undefined {
  const used = new Map<ScriptedAnswer, number>();
  return ({ tool, args }) => {
    const found = (Object.hasOwn(tools, tool) ? (tools[tool] ?? []) : []).find(
      (one) =>
        (one.times === null || (used.get(one) ?? 0) < one.times) &&
        (one.args === undefined || canonical(one.args) === canonical(args)),
    );
    if (found) used.set(found, (used.get(found) ?? 0) + 1);
    return found;
  };
}

const SHOWN = 300;

function missing({ tools }: Script, { tool, args }: NewCall, step: number): Failure {
  const here = Object.hasOwn(tools, tool)
    ? `its ${tools[tool]?.length} answers are used up or are for other arguments`
    : `it has answers for ${Object.keys(tools).join(', ') || 'no tool'}`;
  const call = `${tool} ${JSON.stringify(args).slice(0, SHOWN)}`;
  return new Failure(
    'NotRecorded',
    `step ${step}: the test has no answer for ${call}: ${here}. Nothing ran.`,
  );
}
