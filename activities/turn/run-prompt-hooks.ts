/** Runs hooks on the people's messages of a step, before anything else reads them. */
import type { ModelUse } from '#domain/budget/model-use.ts';
import { storableText } from '#domain/text/storable-text.ts';
import type { CallModelResult } from '#domain/turn/turn-activities.ts';
import type { Scrubber } from '#store/secrets/scrubber.ts';
import type { TurnLedger } from '#store/turns/turn-ledger.ts';
import type { LoadedStep } from './step.ts';
import { type GuardOutcome, type Guards, guardsUntil } from '../guards.ts';
import { hookEvents } from './answer-events.ts';

export interface PromptHookDeps {
  readonly guards: Pick<Guards, 'ofPrompt'>;
  readonly scrubber: Scrubber;
  readonly ledger: Pick<TurnLedger, 'appendEvents'>;
  /** Whether the session has begun before the position, which `session_start` stands before. */
  readonly hasStartedBefore: (tenant: string, session: string, position: number) => Promise<boolean>;
  /** The decision of hooks on a message, and the remaining text. */
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
  /** Rows that this worker did not know, as hooks left them. */
  readonly transcript: LoadedStep['transcript'];
  readonly denied?: Extract<CallModelResult, { kind: 'limit' }>;
  readonly uses: readonly ModelUse[];
}

/**
 * A repeat runs hooks on no message again. A denied message ends the turn; hooks still run on the others, and on what was
 * stopped before its hooks had run, which this model reads first.
 */
export async function runPromptHooks(deps: PromptHookDeps, loaded: LoadedStep): Promise<PromptHookResult> {
  const { tenant, session, turn, step } = loaded;
  const { signal } = loaded.attempt;
  const until = guardsUntil();
  const uses: ModelUse[] = [];
  const transcript = [...loaded.transcript];
  const denials: string[] = [];
  const answered = transcript.findLastIndex(({ role }) => role === 'assistant');
  for (const [index, row] of transcript.entries()) {
    const isOwn = row.turn === turn && row.step === step;
    if (row.role !== 'user' || row.invoke || !(isOwn || index > answered)) continue;
    if (row.hooked === 'deny' && isOwn) denials.push(row.text);
    if (row.hooked) continue;
    const isFirst = async () => !(await deps.hasStartedBefore(tenant, session, row.position));
    const outcome = await deps.guards.ofPrompt(loaded, row.text, isFirst, { signal, until });
    if (!outcome) continue;
    const text = textOf(outcome, row.text, deps.scrubber);
    uses.push(...outcome.uses);
    if (text.decision === 'deny' && isOwn) denials.push(text.text);
    await deps.ledger.appendEvents(loaded, hookEvents(outcome.ran));
    await deps.markHooked(tenant, session, row.position, text);
    transcript[index] = { ...row, text: text.text };
  }
  const [denial] = denials;
  const message = denial?.replace(/^\[withheld: (.*)\]$/s, '$1');
  return {
    transcript,
    ...(message !== undefined && { denied: { kind: 'limit', code: 'HookDenied', message } }),
    uses,
  };
}

/** Nobody can be asked about a prompt. */
function textOf(
  { decision, reason = '', prompt }: GuardOutcome,
  text: string,
  scrubber: PromptHookDeps['scrubber'],
): PromptVerdict {
  if (decision !== 'allow') return { decision: 'deny', text: `[withheld: ${reason}]` };
  return { decision, text: prompt === undefined ? text : storableText(scrubber.text(prompt)) };
}
