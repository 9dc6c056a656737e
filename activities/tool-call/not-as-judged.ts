/** Whether a claimed call is the one that was judged, and a reversal the one that an undo has claimed. */
import { sandboxOf, sandboxTerms } from '#domain/sandbox.ts';
import type { MayReverse } from '#domain/feature.ts';
import type { RunToolInput } from '#domain/turn/turn-activities.ts';
import type { Tool } from '#policy/define-tool.ts';
import { callDigest, canonical } from './call-digest.ts';
import type { CallDeps } from './call-deps.ts';
import type { RunnableCall } from './claimed-call.ts';

export interface JudgedDeps extends Pick<CallDeps, 'sandbox'> {
  readonly mayReverse: MayReverse;
}

/** Why the call may not run; undefined when it may. The claim has the arguments that it would run with. */
export async function notAsJudged(
  deps: JudgedDeps,
  tool: Tool,
  input: RunToolInput,
  claim: RunnableCall,
): Promise<string | undefined> {
  return otherThanJudged(deps, tool, claim) ?? (await unclaimedReversal(deps, tool, input, claim));
}

function otherThanJudged(
  deps: JudgedDeps,
  { name, definition }: Tool,
  { agent, args, ...claim }: RunnableCall,
): string | undefined {
  const bound = claim.sandbox ?? undefined;
  if (bound && canonical(bound) !== canonical(sandboxTerms(sandboxOf(deps.sandbox, agent.sandbox))))
    return `the sandbox setting of agent ${agent.key} has changed since this was approved; the call has not run. Make it again to have it asked anew.`;
  const digest = callDigest(claim.tool, args, definition, bound, claim.files ?? []);
  if (digest === claim.digest) return undefined;
  return definition === undefined
    ? 'the recorded arguments are not those that were judged; the call has not run'
    : `${name} was changed after the call had been judged; the call has not run`;
}

/** A model, or a person with a key, could name any call to reverse, with arguments that it never had. */
async function unclaimedReversal(
  { mayReverse }: JudgedDeps,
  { isReversal }: Tool,
  { tenant, call: by }: RunToolInput,
  { args: { call } }: RunnableCall,
): Promise<string | undefined> {
  if (!isReversal || (typeof call === 'string' && (await mayReverse(tenant, call, by)))) return undefined;
  return 'only `tempoclaw undo` reverses a call, each one once';
}
