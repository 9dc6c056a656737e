/**
 * The rows of a turn as its activities write them: each is a call of one of functions/, one round trip, one commit. All
 * are safe to repeat.
 */
import type { NewEvent } from '#domain/event.ts';
import type { StoredImage } from '#domain/model/image.ts';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import type { ModelUse } from '#domain/budget/model-use.ts';
import type { HeldMessage, SettledCall, TurnOutcome } from '#domain/turn/turn.ts';
import type { ChildStart, EndTurnInput } from '#domain/turn/turn-activities.ts';
import type { AnswerFate, AnswerRecord, NewApproval, NewCall } from './answer-record.ts';
import type { Claim, ClaimRules } from './call-claim.ts';
import type { BudgetRequest } from '../budgets/budget-ledger.ts';
import type { BudgetSettlement } from '../../domain/budget/budget.ts';
import { readFiles } from '../files/file-store.ts';
import {
  askAgain,
  keepOutside,
  type NewAsk,
  type NewForm,
  type RepeatedApproval,
} from '../approvals/approval-questions.ts';
import type { NotifyReaders } from '../event-notifier.ts';
import type { Pool } from '../postgres/pool.ts';
import { type AppendEvents, createEventWriter, type EventPlace } from './event-writer.ts';
import type { StepBasis } from './step-basis.ts';
import { recordSummary } from './summary-record.ts';
import { type ArgumentsOf, createSqlCall, type SqlFunction } from '../postgres/sql-call.ts';
import { forTenant } from '../postgres/tenant-db.ts';

export interface BeginStep {
  readonly tenant: string;
  readonly session: string;
  readonly turn: string;
  readonly step: number;
  readonly messages: readonly HeldMessage[];
  readonly settle: readonly SettledCall[];
  /** The caller knows the transcript's rows up to here. */
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
  /** Stored beside the result when it is longer than what the model reads (EX-5). */
  readonly whole?: string;
  readonly images?: readonly NewImage[];
  /** What was read from outside before the returned content was written (PO-5). */
  readonly read?: UsedTools | undefined;
  /** See recordedFiles (domain/files/changed-files.ts). */
  readonly changedFiles?: readonly string[] | undefined;
  /** Stored, so that a repeated activity starts the same child. */
  readonly child?: ChildStart;
  readonly events: readonly NewEvent[];
  /**
   * The caller knows the transcript's rows up to here: the answer contains the next step's basis when this is the
   * step's last result.
   */
  readonly known?: { readonly position: number; readonly summaryPosition: number };
  /** Settles what the call reserved, and reserves for the next model call. */
  readonly budget?: { readonly settle?: BudgetSettlement; readonly next?: BudgetRequest };
}

export interface NewImage extends StoredImage {
  /** Its bytes in base64. */
  readonly data: string;
}

/** An answer whose calls have all run, because they only read. */
export interface ReadsRecord {
  readonly answer: AnswerRecord;
  readonly calls: readonly NewCall[];
  readonly events: readonly NewEvent[];
  /** The caller knows the transcript's rows up to here: the answer contains the next step's basis. */
  readonly known: { readonly position: number; readonly summaryPosition: number };
  /** What the next model call reserves. */
  readonly budget: BudgetRequest;
}

export interface RecordedResult {
  /**
   * False when the call is over or another attempt has it (a late result is refused), or when the step had been
   * recorded.
   */
  readonly recorded: boolean;
  readonly next?: StepBasis;
}

type TurnKey = EventPlace;

export interface TurnLedger {
  beginStep(input: BeginStep): Promise<StepBasis>;
  /** The result: see record_answer. */
  recordAnswer(
    key: TurnKey & { step: number },
    answer: AnswerRecord,
    calls: readonly NewCall[],
    approvals: readonly NewApproval[],
    events: readonly NewEvent[],
  ): Promise<AnswerFate>;
  recordReads(key: TurnKey & { step: number }, reads: ReadsRecord): Promise<RecordedResult>;
  /** A summary replaces the transcript up to `position` in prompts. */
  recordSummary(key: TurnKey, summary: string, position: number, use: ModelUse): Promise<void>;
  claim(tenant: string, call: string, fence: string, rules: ClaimRules): Promise<Claim>;
  /** See approval-questions.ts; null when the attempt no longer has the call. */
  askAgain(
    tenant: string,
    session: string,
    call: string,
    fence: string,
    ask: NewAsk | NewForm,
    settle?: BudgetSettlement,
  ): Promise<RepeatedApproval | null>;
  /** See approval-questions.ts; false when the attempt no longer has the call. */
  keepOutside(tenant: string, call: string, fence: string, sealed: string): Promise<boolean>;
  /** Ends calls of any attempt; finished calls stay unchanged. */
  settle(key: TurnKey, settled: readonly SettledCall[]): Promise<void>;
  recordResult(result: ResultRecord): Promise<RecordedResult>;
  /** Bytes by digest. */
  readFiles(tenant: string, digests: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /** How the turn ended, whoever was first; null when there is none. */
  endTurn(input: EndTurnInput, defaultAgent: string, runId: string): Promise<TurnOutcome['status'] | null>;
  readonly appendEvents: AppendEvents;
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

/** `onWrite` is called after each commit that may have added events. */
export function createTurnLedger(pool: Pool, onWrite: NotifyReaders): TurnLedger {
  const call = createSqlCall(pool);
  const json = (value: unknown): string => JSON.stringify(value);

  /** Writes, then notifies readers. */
  async function write<Row, Name extends SqlFunction>(
    key: { tenant: string; session: string },
    name: Name,
    values: ArgumentsOf<Name>,
    isImmediate = false,
  ): Promise<Row> {
    const result: Row = await call(name, values);
    onWrite(key.tenant, key.session, isImmediate);
    return result;
  }

  return {
    async beginStep(b) {
      const values = stepValues(b);
      const writes = b.messages.length > 0 || b.settle.length > 0;
      const basis: StepBasis = await (writes ? write(b, 'begin_step', values) : call('begin_step', values));
      // The first step of an assignment reports on the giver's feed that it has started.
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
      await recordSummary(forTenant(pool, key.tenant), key, summary, position, use);
      onWrite(key.tenant, key.session);
    },

    async claim(tenant, id, fence, rules) {
      const claim: Claim = await call('claim_call_2', [
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
      const again = await askAgain(forTenant(pool, tenant), { session, call: id, fence }, ask, settle);
      onWrite(tenant, session);
      return again;
    },

    keepOutside: (tenant, id, fence, sealed) =>
      keepOutside(forTenant(pool, tenant), { call: id, fence }, sealed),

    async settle(key, settled) {
      await write(key, 'settle_calls', [key.tenant, key.session, key.turn, json(settled)]);
    },

    recordResult: (r) =>
      write(r, 'record_result_2', [
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
        r.images ? json(r.images) : null,
        r.read ? json(r.read) : null,
        r.changedFiles ? json(r.changedFiles) : null,
      ]),

    readFiles: (tenant, digests) => readFiles(forTenant(pool, tenant), digests),

    endTurn: (end, defaultAgent, runId) =>
      write(end, 'end_turn', endTurnValues(end, defaultAgent, runId), true),

    appendEvents: createEventWriter(pool, onWrite),
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
