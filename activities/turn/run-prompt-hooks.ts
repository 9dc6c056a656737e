/** What a step brings of people's words is put to hooks, before anything else reads it. */
import type { AgentConfig } from '#domain/agent.ts';
import type { ModelUse } from '#domain/model-use.ts';
import { storableText } from '#domain/storable-text.ts';
import type { CallModelInput, CallModelResult } from '#domain/turn.ts';
import type { Scrubber } from '#store/secrets/scrubber.ts';
import type { TurnLedger } from '#store/turn-ledger.ts';
import type { ReadBasis } from './step-engine.ts';
import { type GuardOutcome, type Guards, guardsUntil } from '../guards.ts';
import { hookEvents } from './answer-events.ts';

export interface PromptHookDeps {
  readonly guards: Guards;
  readonly scrubber: Scrubber;
  readonly ledger: Pick<TurnLedger, 'appendEvents'>;
  /** What hooks said of a message, and what they left of it. */
  readonly markHooked: (
    tenant: string,
    session: string,
    position: number,
    message: PromptVerdict,
  ) => Promise<void>;
}

interface PromptVerdict {
  readonly decision: 'allow' | 'deny';
  readonly text: string;
}

interface PromptHookResult {
  readonly basis: ReadBasis;
  readonly denied?: Extract<CallModelResult, { kind: 'limit' }>;
  readonly uses: readonly ModelUse[];
}

/** A repeat asks about no message again. One that is denied ends the turn; the others are asked about all the same. */
export async function runPromptHooks(
  deps: PromptHookDeps,
  input: CallModelInput,
  basis: ReadBasis,
  agent: AgentConfig,
  signal: AbortSignal,
): Promise<PromptHookResult> {
  const { tenant, session, turn, step } = input;
  const until = guardsUntil();
  const uses: ModelUse[] = [];
  const transcript = [...basis.transcript];
  const denials: string[] = [];
  for (const [index, row] of transcript.entries()) {
    if (row.role !== 'user' || row.turn !== turn || row.step !== step || row.invoke) continue;
    if (row.hooked === 'deny') denials.push(row.text);
    if (row.hooked) continue;
    const scope = { ...basis, tenant, session, turn, agent };
    const outcome = await deps.guards.ofPrompt(scope, row.text, row.position === 1, { signal, until });
    if (!outcome) continue;
    const text = saidOf(outcome, row.text, deps.scrubber);
    uses.push(...outcome.uses);
    if (text.decision === 'deny') denials.push(text.text);
    await deps.ledger.appendEvents(input, hookEvents(outcome.ran));
    await deps.markHooked(tenant, session, row.position, text);
    transcript[index] = { ...row, text: text.text };
  }
  const [denial] = denials;
  const message = denial?.replace(/^\[withheld: (.*)\]$/s, '$1');
  return {
    basis: { ...basis, transcript },
    ...(message !== undefined && { denied: { kind: 'limit', code: 'HookDenied', message } }),
    uses,
  };
}

/** Nobody is there to be asked about a prompt. */
function saidOf(
  { decision, reason = '', prompt }: GuardOutcome,
  text: string,
  scrubber: PromptHookDeps['scrubber'],
): PromptVerdict {
  if (decision !== 'allow') return { decision: 'deny', text: `[withheld: ${reason}]` };
  return { decision, text: prompt === undefined ? text : storableText(scrubber.text(prompt)) };
}
