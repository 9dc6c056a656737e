/** What happened in a session, in numbers: of its recording, and of its replay under a change. */
import type { RecordedCall, Recording } from '../schema.ts';
import { NOT_RECORDED } from './not-recorded.ts';

/** Tokens and US dollars are null when they are not known. */
export interface Figures {
  readonly turns: number;
  /** Turns that have not completed. */
  readonly failed: number;
  readonly steps: number;
  readonly calls: number;
  /** Calls about which the rules ask. */
  readonly approvals: number;
  /** Calls that rules or people have refused. */
  readonly denied: number;
  readonly not_recorded: number;
  readonly tokens: number | null;
  readonly cost: number | null;
  /** Calls by tool. */
  readonly tools: Readonly<Record<string, number>>;
}

/** Nothing has happened. */
export const NO_FIGURES: Figures = {
  turns: 0,
  failed: 0,
  steps: 0,
  calls: 0,
  approvals: 0,
  denied: 0,
  not_recorded: 0,
  tokens: 0,
  cost: 0,
  tools: {},
};

export function figuresOf({ turns }: Pick<Recording, 'turns'>): Figures {
  const steps = turns.flatMap((turn) => turn.steps);
  const calls = steps.flatMap((step) => step.calls);
  const count = (is: (call: RecordedCall) => boolean): number => calls.filter(is).length;
  const tools = Map.groupBy(calls, ({ tool }) => tool);
  return {
    turns: turns.length,
    failed: turns.filter(({ status }) => status !== 'completed').length,
    steps: steps.length,
    calls: calls.length,
    approvals: count(({ verdict }) => verdict === 'ask'),
    denied: count(isDenied),
    not_recorded: count(({ result }) => result === NOT_RECORDED),
    tokens: sum(turns.map(({ used }) => used?.tokens ?? null)),
    cost: sum(turns.map(({ used }) => used?.usd ?? null)),
    tools: Object.fromEntries([...tools].map(([tool, all]) => [tool, all.length])),
  };
}

/** A call with wrong arguments, or of a tool that there is not, is refused by no rule. */
function isDenied({ verdict, code }: RecordedCall): boolean {
  return code === 'ApprovalDenied' || (verdict === 'deny' && code !== 'InvalidArgs' && code !== 'NotFound');
}

export function addFigures(all: readonly Figures[]): Figures {
  return all.reduce((one, other) => {
    const names = [...new Set([...Object.keys(one.tools), ...Object.keys(other.tools)])];
    return {
      turns: one.turns + other.turns,
      failed: one.failed + other.failed,
      steps: one.steps + other.steps,
      calls: one.calls + other.calls,
      approvals: one.approvals + other.approvals,
      denied: one.denied + other.denied,
      not_recorded: one.not_recorded + other.not_recorded,
      tokens: sum([one.tokens, other.tokens]),
      cost: sum([one.cost, other.cost]),
      tools: Object.fromEntries(
        names.map((name) => [name, (one.tools[name] ?? 0) + (other.tools[name] ?? 0)]),
      ),
    };
  }, NO_FIGURES);
}

/** A sum with an unknown part is unknown. */
function sum(parts: readonly (number | null)[]): number | null {
  return parts.reduce<number | null>(
    (total, part) => (total === null || part === null ? null : total + part),
    0,
  );
}
