/** Budgets for call_model and the tools (DU-7): reserve, settle, and ask for more at the limit. */
import { BUDGET_ASK, type BudgetExceeded, DEFAULT_RESERVE, type Spent } from '#domain/budget/budget.ts';
import type { Budget } from '#domain/schema/budget.ts';
import { askFor, askSummary, exceededWords } from '#domain/budget/ask-for-more.ts';
import { NOTHING_SPENT, withUses } from '#domain/budget/meter.ts';
import { answerIdOf, approvalIdOf } from '#domain/ids.ts';
import { ModelError } from '#domain/model/model.ts';
import { costsNothing, type ModelUse } from '#domain/budget/model-use.ts';
import type { GateAsk } from '#domain/gate/gate-activities.ts';
import type { CallModelResult, PlannedCall } from '#domain/turn/turn-activities.ts';
import { recordedWithin } from '../tool-call/until-recorded.ts';
import { databaseNow, type LoadedStep } from '../turn/step.ts';
import { callDigest } from '../tool-call/call-digest.ts';
import type { NeedsToken } from '../approvals/needs-token.ts';
import type { BudgetedWork, BudgetLedger, BudgetRequest } from '#store/budgets/budget-ledger.ts';
import type { NewBudgetAsk } from '#store/approvals/approval-questions.ts';

/** A model call, with its reservations. */
export type HoldingStep = Pick<
  LoadedStep,
  'tenant' | 'session' | 'turn' | 'step' | 'increases' | 'attempt' | 'budget' | 'now' | 'readAt'
>;

export interface BudgetGuard {
  /** `holder` is an answer's id; absent for a tool's call. */
  request(attempt: number, holder?: string): BudgetRequest;
  /** Settles the reservation of a model call that ends before its model is asked. `uses`: its hooks' model uses. */
  releaseUnasked(step: HoldingStep, uses: readonly ModelUse[]): Promise<void>;
  /** A failure that certainly cost nothing beyond `spent` releases the rest; any other counts as what was reserved. */
  releaseFailed(
    step: HoldingStep,
    failure: {
      readonly error: unknown;
      readonly models: number;
      readonly spent: Spent;
      /** Uses that were still made, for cost reports. */
      readonly uses: readonly ModelUse[];
    },
  ): Promise<void>;
  /**
   * The budget suffices. An earlier attempt may have asked for more and died before its turn could wait for the answer.
   * Its question is withdrawn, because nobody would receive the decision.
   */
  takeBackAsk(step: HoldingStep): Promise<void>;
  /**
   * Runs work that counts as a call of a costly tool, or says which budget does not suffice. `spentOf` returns its use
   * besides time; if it is undefined or throws, what was reserved counts.
   */
  around<Result>(
    work: BudgetedWork,
    attempt: number,
    run: () => Promise<Result>,
    spentOf?: (result: Result) => Omit<Spent, 'seconds'> | undefined,
  ): Promise<{ readonly result: Result } | { readonly exceeded: BudgetExceeded }>;
  /** Records a turn's model uses besides its answers. A repeat records those again that have no name (`once`). */
  readonly noteUses: BudgetLedger['noteUses'];
  /** For such a command: asks people for more; undefined when nobody may be asked. Safe to repeat. */
  askFor(
    work: BudgetedWork,
    exceeded: BudgetExceeded,
    asker: NonNullable<NewBudgetAsk['asker']>,
    requested: number,
  ): Promise<Omit<GateAsk, 'kind'> | undefined>;
  /** The budget suffices: the question of an earlier attempt is withdrawn, as in `takeBackAsk`. */
  takeBack(work: BudgetedWork, request: number): Promise<void>;
  /** The step cannot continue: returns what the turn must do. */
  atLimit(step: HoldingStep, exceeded: BudgetExceeded): Promise<CallModelResult>;
}

export interface BudgetGuardParts {
  readonly ledger: BudgetLedger;
  readonly settings: readonly Budget[];
  /** How long a question for more waits. */
  readonly approvalSeconds: number;
  readonly needsToken: NeedsToken;
}

const SETTLE_MS = 10_000;

/** What was done is not done again because Postgres is away; what then stays reserved counts as spent. */
const untilSettled = (settle: () => Promise<void>): Promise<void> => recordedWithin(SETTLE_MS, settle);

/** What a command uses besides time. */
const COMMAND = { tokens: 0, usd: 0, calls: 1 };

export function createBudgetGuard({
  ledger,
  settings,
  approvalSeconds,
  needsToken,
}: BudgetGuardParts): BudgetGuard {
  const release = async (step: HoldingStep, spent: Spent): Promise<void> => {
    const { tenant, turn, budget, attempt } = step;
    if (budget?.held)
      await ledger.settle(tenant, answerIdOf(turn, step.step), { attempt: attempt.number, spent });
  };
  const request: BudgetGuard['request'] = (attempt, holder) => ({
    attempt,
    holder,
    reserve: DEFAULT_RESERVE,
    settings: settings.length > 0 ? settings : undefined,
  });
  return {
    request,

    async releaseUnasked(step, uses) {
      if (uses.length > 0) await ledger.noteUses(step, uses);
      await release(step, withUses(NOTHING_SPENT, uses));
    },
    noteUses: ledger.noteUses,

    async releaseFailed(step, { error, models, spent, uses }) {
      // Here and below, the model's failure is the one to report.
      if (uses.length > 0) await ledger.noteUses(step, uses).catch(() => undefined);
      // For a chain of models only the last error is known, not what each may have cost.
      if (models > 1 || !(error instanceof ModelError) || !costsNothing(error.code)) return;
      const calls = spent.tokens > 0 ? 1 : 0;
      // What is not released counts as spent.
      await release(step, { ...spent, calls }).catch(() => undefined);
    },

    async takeBackAsk(step) {
      if (step.budget?.held && step.attempt.number > 1) await ledger.takeBack(step, askIdOf(step));
    },

    async around(work, attempt, run, spentOf) {
      const hold = await ledger.reserve(work, request(attempt));
      if (hold && !hold.held) return { exceeded: hold.exceeded };
      const startedAt = performance.now();
      const settle = async (used: Omit<Spent, 'seconds'> | undefined): Promise<void> => {
        const spent = used && { ...used, seconds: (performance.now() - startedAt) / 1000 };
        if (hold) await ledger.settle(work.tenant, work.holder, { attempt, spent });
      };
      const result = await run().catch(async (error: unknown) => {
        // The original failure is reported; what stays reserved counts as spent.
        await settle(spentOf ? undefined : COMMAND).catch(() => undefined);
        throw error;
      });
      await untilSettled(() => settle(spentOf ? spentOf(result) : COMMAND));
      return { result };
    },

    async askFor(work, exceeded, asker, requested) {
      if (exceeded.on_limit === 'stop') return undefined;
      const { tenant, session, holder } = work;
      const key = { tenant, session, turn: work.turn ?? work.owner };
      const place = { id: workAskId(work, requested), call_id: holder, now: await ledger.now() };
      const call = await ask(key, place, exceeded, asker);
      return call && { call, message: exceededWords(exceeded), session, turn: key.turn };
    },

    takeBack: (work, requested) => ledger.takeBack(work, workAskId(work, requested)),

    async atLimit(step, exceeded) {
      const message = exceededWords(exceeded);
      const stopped = { kind: 'limit', code: 'BudgetExceeded', message } as const;
      if (exceeded.on_limit === 'stop') return stopped;
      const place = { id: askIdOf(step), call_id: answerIdOf(step.turn, step.step), now: databaseNow(step) };
      const call = await ask(step, place, exceeded);
      return call ? { kind: 'budget', call, message } : stopped;
    },
  };

  /** Undefined when nobody waits for the answer any more. */
  async function ask(
    key: Parameters<BudgetLedger['ask']>[0],
    { id, call_id, now }: { readonly id: string; readonly call_id: string; readonly now: number },
    exceeded: BudgetExceeded,
    asker?: NewBudgetAsk['asker'],
  ): Promise<PlannedCall | undefined> {
    const args = askFor(exceeded);
    const tool = BUDGET_ASK;
    const summary = askSummary(args);
    const reason = exceededWords(exceeded);
    const expires_at = new Date(now + approvalSeconds * 1000).toISOString();
    const token = await needsToken(key.tenant);
    const digest = callDigest(tool, { ...args });
    const approval = {
      id,
      call_id,
      tool,
      args,
      summary,
      reason,
      expires_at,
      digest,
      terms: { ...termsOf(exceeded), decision_token: token ? (true as const) : undefined },
      always: { refused: 'more budget is given once' },
      asker,
    };
    const data = { approval_id: id, call_id, tool, summary, args, reason, expires_at };
    const until = await ledger.ask(key, approval, [{ type: 'approval.requested', data }]);
    if (until === undefined) return undefined;
    const terms = token ? { token } : {};
    const asking = { id, digest, expires: approvalSeconds, until: Math.round(until), ...terms };
    return { id: call_id, tool, summary, timeout: 0, approval: asking };
  }
}

/** Id of the step's next question. */
function askIdOf({ tenant, turn, step, increases = 0 }: HoldingStep): string {
  return approvalIdOf(tenant, `${answerIdOf(turn, step)}.more${increases + 1}`);
}

/** The same for a command, whose holder's name may have any prefix. */
function workAskId({ tenant, holder }: BudgetedWork, requested: number): string {
  return approvalIdOf(tenant, `gate_${holder}.more${requested + 1}`);
}

/** The user may extend a budget of their own turn or session, but not a shared one. */
function termsOf({ scope }: BudgetExceeded): { approvers?: { scopes: ['admin'] } } {
  return scope === 'turn' || scope === 'session' ? {} : { approvers: { scopes: ['admin'] } };
}
