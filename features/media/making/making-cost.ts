/** Reserves what an order may cost in the turn's budgets, from before it is sent until its cost is known (DU-7). */
import { exceededWords } from '#domain/budget/ask-for-more.ts';
import { KNOWN_MEDIA_PRICES, mediaCost } from '../contract.ts';
import type { BudgetedWork } from '#store/budgets/budget-ledger.ts';
import type { MediaJob } from './making-work.ts';

/** US dollars; `seconds` is the provider's count. Undefined means unknown. */
export function costOf({ mediaPlaces, wish }: MediaJob, ref: string, seconds?: number): number | undefined {
  const price = mediaPlaces.settings.prices[ref] ?? KNOWN_MEDIA_PRICES[ref];
  return mediaCost(price, { ...wish.request, seconds: seconds ?? wish.request.seconds });
}

/** Each order of the call has its own reservation; one that is never settled counts as spent at the turn's end. */
function workOf(work: MediaJob, ref: string): BudgetedWork {
  const { tenant, sessionKey, turnId, callId } = work.call;
  const expected = { tokens: 0, usd: costOf(work, ref) };
  return {
    tenant,
    session: sessionKey,
    turn: turnId,
    owner: turnId,
    holder: `${callId}.${ref}`,
    expected,
  };
}

/** Returns which budget is too small for it, in words. */
export async function reserve(work: MediaJob, ref: string): Promise<string | undefined> {
  // For its budgets, an attempt that continues with the order is the same one.
  const hold = await work.budgetLedger.reserve(workOf(work, ref), {
    ...work.budgets.request(1),
    exact: true,
  });
  return hold && !hold.held ? exceededWords(hold.exceeded) : undefined;
}

/** With `usd` undefined, settles what was reserved. */
export async function settle(
  work: MediaJob,
  ref: string,
  usd: number | undefined,
  isMade = false,
): Promise<void> {
  const { tenant, sessionKey: session, turnId: turn } = work.call;
  const seconds = isMade ? (work.now() - (work.outside.left?.since ?? work.now())) / 1000 : 0;
  const spent = usd === undefined ? undefined : { tokens: 0, usd, seconds, calls: isMade ? 1 : 0 };
  await work.budgetLedger.settle(tenant, workOf(work, ref).holder, {
    attempt: 1,
    ...(spent && { spent }),
  });
  if (!isMade) return;
  const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
  const once = workOf(work, ref).holder;
  const use = { kind: 'media', model: ref, usage, once, ...(usd !== undefined && { usd }) } as const;
  await work.budgetLedger.noteUses({ tenant, session, turn }, [use]);
}
