/** Counts what one attempt of a model call has used so far, over all the models it called. */
import type { Usage } from '../model/model.ts';
import type { ModelUse } from './model-use.ts';
import type { Spent } from './budget.ts';

export interface Meter {
  /** `usd` is undefined when the price is unknown; then the sum is unknown too. */
  add(usage: Usage, usd: number | undefined): void;
  spent(seconds: number): Spent;
}

export function createMeter(): Meter {
  let tokens = 0;
  let usd: number | undefined = 0;
  return {
    add(usage, cost) {
      tokens += usage.inputTokens + usage.outputTokens;
      usd = usd === undefined || cost === undefined ? undefined : usd + cost;
    },
    spent: (seconds) => ({ tokens, usd, seconds, calls: 1 }),
  };
}

/** Adds further model uses to what was spent. */
export function withUses(spent: Spent, uses: readonly ModelUse[]): Spent {
  const meter = createMeter();
  for (const { usage, usd } of uses) meter.add(usage, usd);
  const { tokens, usd } = meter.spent(0);
  const sum = spent.usd === undefined || usd === undefined ? undefined : spent.usd + usd;
  return { ...spent, tokens: spent.tokens + tokens, usd: sum };
}

/** No model was called. */
export const NOTHING_SPENT: Spent = { tokens: 0, usd: 0, seconds: 0, calls: 0 };
