/** A call with state outside its attempt: what is stored of it, and what its MCP server asks people. */
import { approvalIdOf } from '#domain/ids.ts';
import { loginPlace, standardAnswer } from '#domain/form.ts';
import type { PendingExternalCall, PendingForm } from '#domain/turn/pending-call.ts';
import type { CallOutside } from '#domain/tool.ts';
import { storableJson } from '#domain/text/storable-text.ts';
import type { RunToolInput } from '#domain/turn/turn-activities.ts';
import type { NewForm } from '#store/approvals/approval-questions.ts';
import type { Sealer } from '#store/seal.ts';
import type { TurnLedger } from '#store/turns/turn-ledger.ts';
import type { NeedsToken } from '../approvals/needs-token.ts';
import type { ClaimedCall, RunnableCall } from './claimed-call.ts';
import type { Attempt } from '../attempt.ts';
import { callDigest } from './call-digest.ts';
import { type SampleDeps, sampleModel } from './sample-model.ts';
import { untilRecorded } from './until-recorded.ts';

/** Characters of a question's line. */
const SUMMARY = 120;

export interface OutsideDeps extends SampleDeps {
  readonly ledger: Pick<TurnLedger, 'keepOutside'>;
  readonly sealer: Sealer;
  readonly needsToken: NeedsToken;
  /** How long a question waits unless the terms of its call say otherwise. */
  readonly approvalSeconds: number;
}

export function createOutside(
  deps: OutsideDeps,
  input: RunToolInput,
  { running, fence }: ClaimedCall,
  attempt: Attempt,
): CallOutside {
  const { ledger, sealer } = deps;
  const { tenant, call, stopped } = input;
  let isSampling = false;
  const place = leftPlace(tenant, call);
  let remaining = running.outside
    ? (JSON.parse(sealer.open(running.outside, place)) as PendingExternalCall)
    : undefined;
  return {
    get left() {
      return remaining;
    },
    isAgain: running.again === true,
    isStopped: stopped === true,
    answer: answerOf(sealer, tenant, running),
    async keep(now) {
      const sealed = sealer.seal(JSON.stringify(now), place);
      let tries = 0;
      const isOurs = await untilRecorded(() => {
        // The next attempt must know what exists already.
        if (tries > 0) attempt.signal.throwIfAborted();
        tries += 1;
        return ledger.keepOutside(tenant, call, fence, sealed);
      });
      if (!isOurs) throw new Error('another attempt has the call');
      remaining = now;
    },
    get isSampling() {
      return isSampling && !remaining?.isHeld;
    },
    async sample(prompt) {
      isSampling = true;
      const answer = await sampleModel(
        deps,
        input,
        running,
        attempt,
        `${call}.sampling.${remaining?.asks}`,
        prompt,
      );
      isSampling = false;
      return answer;
    },
  };
}

function answerOf(sealer: Sealer, tenant: string, { form }: RunnableCall): CallOutside['answer'] {
  if (!form) return undefined;
  const { id, status, sealed } = form;
  return { status, ...(sealed && { content: JSON.parse(sealer.open(sealed, formPlace(tenant, id))) }) };
}

/** The question in the form that people see. */
export async function newForm(
  { scrubber, sealer, needsToken, approvalSeconds }: OutsideDeps,
  { tenant, call }: RunToolInput,
  { tool, context: { user } }: RunnableCall,
  { form: request, left }: PendingForm,
): Promise<NewForm> {
  const form = storableJson(scrubber.args({ ...request }) as unknown as typeof request);
  const args = scrubber.args(standardAnswer(form));
  const words = form.message.replace(/\s+/g, ' ');
  const decision_token = (await needsToken(tenant)) ? { decision_token: true as const } : {};
  return {
    id: `${approvalIdOf(tenant, call)}:asks-${left.asks}`,
    form,
    args,
    summary: scrubber.preview(
      form.login ? `${tool}: a login for ${loginPlace(form)}` : `${tool} asks: ${words}`,
      SUMMARY,
    ),
    digest: callDigest(`${tool}?`, args),
    reason: form.login
      ? `the call needs a login of ${user ?? 'its user'} for ${loginPlace(form)}`
      : `the MCP server ${form.server} asks this while it works at the call`,
    always: NEVER,
    words: NEVER.refused,
    // Nobody can log in for somebody else.
    terms: { ...decision_token, ...(form.login && user !== undefined && { approvers: { users: [user] } }) },
    outside: sealer.seal(JSON.stringify(left), leftPlace(tenant, call)),
    expires: approvalSeconds,
  };
}

const NEVER = { refused: 'it is a question of an MCP server' };

const leftPlace = (tenant: string, call: string): string => `${tenant}/tool_calls/${call}/outside`;

/** The place that the answer to a form is sealed for. */
export const formPlace = (tenant: string, approval: string): string => `${tenant}/approvals/${approval}`;
