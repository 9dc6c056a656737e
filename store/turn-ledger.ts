/**
 * The rows of a turn as its activities write them: a call of one of functions/ each, one round trip, one commit. All of them
 * are safe to repeat.
 */
import type { AgentConfig } from '#domain/agent.ts';
import type { AlwaysOffer } from '#domain/approval.ts';
import type { ApprovalTerms } from '#domain/approval-terms.ts';
import type { BoundFile } from '#domain/bound-file.ts';
import type { NewEvent } from '#domain/event.ts';
import type { ModelUse } from '#domain/model-use.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import type {
  ChildStart,
  EndTurnInput,
  HeldMessage,
  MessageContext,
  SettledCall,
  TurnOutcome,
} from '#domain/turn.ts';
import type { AnswerFate, AnswerRecord, NewApproval, NewCall } from './answer-record.ts';
import type { AskedAgain, Claim, ClaimRules, NewAsk } from './call-claim.ts';
import type { BudgetHold, BudgetRequest, BudgetSettlement } from './budget-ledger.ts';
import type { InvokedCall } from './message-store.ts';
import { askAgain } from './approval-questions.ts';
import type { NotifyReaders } from './event-notifier.ts';
import type { Pool } from './pool.ts';
import { recordSummary } from './summary-record.ts';
import { type ArgumentsOf, createSqlCall, type SqlFunction } from './sql-call.ts';

/** A call as its row has it; `sealed` (base64) holds the real arguments when `args` is only what people may see. */
export interface CallRow {
  readonly id: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly sealed?: string | null;
}

export interface RecordedCall extends CallRow {
  readonly tool: string;
  readonly approval: string | null;
  /** Seconds that its approval has, when it has one. */
  readonly expires: number | null;
  /** The same as a moment: milliseconds since 1970. */
  readonly until: number | null;
  readonly terms: ApprovalTerms | null;
  /** Absent or null where its approval does not say. */
  readonly always?: AlwaysOffer | null;
  readonly files?: readonly BoundFile[] | null;
  readonly state: string;
}

export interface TranscriptCall extends CallRow {
  readonly name: string;
  readonly ok?: boolean;
  readonly state: string;
  readonly digest: string;
  readonly result?: string;
}

export interface TranscriptRow {
  readonly position: number;
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly turn: string;
  readonly step: number;
  readonly calls?: readonly TranscriptCall[];
  /** A user's row may ask for tools directly (`POST /v1/tools/{name}/invoke`). */
  readonly invoke?: readonly InvokedCall[];
}

export interface StepBasis {
  readonly duplicate?: true;
  /** How the turn ended, when that is why it is a duplicate. */
  readonly ended?: Omit<TurnOutcome, 'turn_id'> | null;
  /** Null when no budget applies, or none was asked for. */
  readonly budget: BudgetHold | null;
  readonly agent: AgentConfig | null;
  readonly agent_key: string;
  /** Teams that the agent leads; null for all others. */
  readonly leads: readonly import('#domain/team.ts').Team[] | null;
  /** The turn's revision of the agent is the newest one. */
  readonly agent_current: boolean;
  /** Agents that it may give work to. */
  readonly links: number | null;
  /** Of the newest revision. */
  readonly sandbox: AgentConfig['sandbox'] | null;
  readonly user: string | null;
  readonly context: MessageContext;
  readonly tenant_policy: TenantPolicy | null;
  /** The database's clock, which decides where a worker's may be wrong (F11); milliseconds since 1970. */
  readonly now: number;
  /** Of the tenant's custom tools; 0 while it has none. */
  readonly tools_version: number;
  readonly spent: {
    readonly input: number;
    readonly output: number;
    readonly usd: number | null;
    readonly unpriced: number;
  };
  readonly summary: string | null;
  readonly summary_position: number;
  readonly recorded: {
    readonly text: string;
    readonly finish: string;
    readonly model: string;
    /** The turn has taken messages since. */
    readonly unheard: boolean;
    /** The turn has ended with it. */
    readonly ended: boolean;
    readonly calls: readonly RecordedCall[];
  } | null;
  /** Rows after the position asked for, without this step's own answer. */
  readonly transcript: readonly TranscriptRow[];
  readonly allowlist: readonly { readonly tool: string; readonly pattern: string }[];
}

export interface BeginStep {
  readonly tenant: string;
  readonly session: string;
  readonly turn: string;
  readonly step: number;
  readonly messages: readonly HeldMessage[];
  readonly settle: readonly SettledCall[];
  /** The transcript's rows up to here are known to the caller. */
  readonly after: number;
  /** Position of the summary that the caller knows; 0 when none. */
  readonly summaryAfter: number;
  readonly defaultAgent: string;
  readonly runId: string;
  readonly budget: BudgetRequest;
}

export interface ResultRecord {
  readonly tenant: string;
  readonly session: string;
  readonly call: string;
  readonly fence: string;
  readonly ok: boolean;
  readonly code: string | null;
  readonly text: string;
  /** Kept beside the result when it is more than the model reads (EX-5). */
  readonly whole?: string;
  /** Kept, so that a repeated activity starts the same child. */
  readonly child?: ChildStart;
  readonly events: readonly NewEvent[];
  /** The transcript's rows up to here are known: also give the next step's basis when this is the step's last result. */
  readonly known?: { readonly position: number; readonly summaryPosition: number };
  /** What the call held, and what the next model call is to hold. */
  readonly budget?: { readonly settle?: BudgetSettlement; readonly next?: BudgetRequest };
}

/** An answer whose calls have all run, since they only read. */
export interface ReadsRecord {
  readonly answer: AnswerRecord;
  readonly calls: readonly NewCall[];
  readonly events: readonly NewEvent[];
  /** The transcript's rows up to here are known: the next step's basis comes with it. */
  readonly known: { readonly position: number; readonly summaryPosition: number };
  /** What the next model call is to hold. */
  readonly budget: BudgetRequest;
}

export interface RecordedResult {
  /** False when the call is over or another attempt holds it (a late result is refused), or the step had been recorded. */
  readonly recorded: boolean;
  readonly next?: StepBasis;
}

/** Where a turn's rows are. */
interface TurnKey {
  readonly tenant: string;
  readonly session: string;
  readonly turn: string;
}

export interface TurnLedger {
  beginStep(input: BeginStep): Promise<StepBasis>;
  /** What came of it: see record_answer. */
  recordAnswer(
    key: TurnKey & { step: number },
    answer: AnswerRecord,
    calls: readonly NewCall[],
    approvals: readonly NewApproval[],
    events: readonly NewEvent[],
  ): Promise<AnswerFate>;
  recordReads(key: TurnKey & { step: number }, reads: ReadsRecord): Promise<RecordedResult>;
  /** A summary stands for the transcript up to `position`. */
  recordSummary(key: TurnKey, summary: string, position: number, use: ModelUse): Promise<void>;
  claim(tenant: string, call: string, fence: string, rules: ClaimRules): Promise<Claim>;
  /** See approval-questions.ts; null when the call is not the attempt's any more. */
  askAgain(
    tenant: string,
    session: string,
    call: string,
    fence: string,
    ask: NewAsk,
    settle?: BudgetSettlement,
  ): Promise<AskedAgain | null>;
  /** Ends calls whatever attempt holds them; those that are done stay as they are. */
  settle(key: TurnKey, settled: readonly SettledCall[]): Promise<void>;
  recordResult(result: ResultRecord): Promise<RecordedResult>;
  /** How the turn ended, whoever was first; null when there is none. */
  endTurn(input: EndTurnInput, defaultAgent: string, runId: string): Promise<TurnOutcome['status'] | null>;
  /** `atOnce`: readers are told without delay. */
  appendEvents(key: TurnKey, events: readonly NewEvent[], atOnce?: boolean): Promise<void>;
}

function placeOf({
  tenant,
  session,
  turn,
  step,
}: TurnKey & { step: number }): readonly [string, string, string, number] {
  return [tenant, session, turn, step];
}

function stepValues(b: BeginStep): ArgumentsOf<'begin_step'> {
  return [
    b.tenant,
    b.session,
    b.turn,
    b.step,
    JSON.stringify(b.messages),
    JSON.stringify(b.settle),
    b.after,
    b.summaryAfter,
    b.defaultAgent,
    b.runId,
    JSON.stringify(b.budget),
  ];
}

/** `onWrite` is told after each commit that may have added events. */
export function createTurnLedger(pool: Pool, onWrite: NotifyReaders): TurnLedger {
  const call = createSqlCall(pool);
  const json = (value: unknown): string => JSON.stringify(value);

  /** A write, and the word to readers after it. */
  async function write<Row, Name extends SqlFunction>(
    key: { tenant: string; session: string },
    name: Name,
    values: ArgumentsOf<Name>,
    atOnce = false,
  ): Promise<Row> {
    const result: Row = await call(name, values);
    onWrite(key.tenant, key.session, atOnce);
    return result;
  }

  return {
    async beginStep(b) {
      const values = stepValues(b);
      const writes = b.messages.length > 0 || b.settle.length > 0;
      const basis: StepBasis = await (writes ? write(b, 'begin_step', values) : call('begin_step', values));
      // The first step of an assignment says on the feed of who gave it that it has begun.
      const origin = basis.context?.subagent?.session ?? basis.context?.delegation?.session;
      if (writes && b.step === 1 && origin !== undefined) onWrite(b.tenant, origin);
      return basis;
    },

    recordAnswer: (key, answer, calls, approvals, events) =>
      write(
        key,
        'record_answer',
        [...placeOf(key), json(answer), json(calls), json(approvals), json(events)],
        approvals.length > 0 || answer.ends,
      ),

    recordReads: (key, { answer, calls, events, known, budget }) =>
      write(key, 'record_reads', [
        ...placeOf(key),
        json(answer),
        json(calls),
        json(events),
        known.position,
        known.summaryPosition,
        json(budget),
      ]),

    async recordSummary(key, summary, position, use) {
      await recordSummary(pool, key, summary, position, use);
      onWrite(key.tenant, key.session);
    },

    async claim(tenant, id, fence, rules) {
      const claim: Claim = await call('claim_call', [
        tenant,
        id,
        fence,
        rules.once,
        rules.reads,
        rules.perHour,
        rules.burst,
        rules.budget ? json(rules.budget) : null,
      ]);
      if (claim.kind === 'run' && claim.claimed) onWrite(tenant, claim.session);
      return claim;
    },

    async askAgain(tenant, session, id, fence, ask, settle) {
      const asked = await askAgain(pool, { tenant, session, call: id, fence }, ask, settle);
      onWrite(tenant, session);
      return asked;
    },

    async settle(key, settled) {
      await write(key, 'settle_calls', [key.tenant, key.session, key.turn, json(settled)]);
    },

    recordResult: (r) =>
      write(r, 'record_result', [
        r.tenant,
        r.session,
        r.call,
        r.fence,
        r.ok,
        r.code,
        r.text,
        r.whole === undefined ? null : r.call,
        r.whole ?? null,
        r.child ? json(r.child) : null,
        json(r.events),
        r.known?.position ?? null,
        r.known?.summaryPosition ?? null,
        r.budget ? json(r.budget) : null,
      ]),

    endTurn: (end, defaultAgent, runId) =>
      write(end, 'end_turn', endTurnValues(end, defaultAgent, runId), true),

    async appendEvents(key, events, atOnce) {
      await write(key, 'append_events', [key.tenant, key.session, key.turn, json(events)], atOnce);
    },
  };
}

function endTurnValues(end: EndTurnInput, defaultAgent: string, runId: string): ArgumentsOf<'end_turn'> {
  return [
    end.tenant,
    end.session,
    end.turn,
    end.step,
    end.status,
    end.error ? JSON.stringify(end.error) : null,
    end.by ?? null,
    JSON.stringify(end.settle ?? []),
    JSON.stringify(end.messages ?? []),
    JSON.stringify(end.dropped ?? []),
    defaultAgent,
    runId,
    end.text ?? null,
  ];
}
