/** The rows of a run's timeline: model calls, their tool calls, and what these gave to other sessions. */
import type { Operations } from '@tempoclaw/client';
import { durationText, moneyText } from '../../components/amounts.ts';

export type Turn = Operations['GET /v1/turns/{id}']['answer'];
export type Step = Operations['GET /v1/turns/{id}/steps']['answer']['data'][number];
type Call = Step['calls'][number];
type Work = Call['work'][number];

export interface Bar {
  readonly kind: 'model' | 'tool' | 'wait' | 'work';
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

export interface TimelineRow {
  /** As the address names it: `3` for the model call of step 3, `3.0` for its first tool call, `3.0.ID` for work below it. */
  readonly key: string;
  readonly name: string;
  readonly summary: string;
  readonly state: 'running' | 'waiting' | 'done' | 'failed';
  readonly bars: readonly Bar[];
  readonly note: string;
}

export function isOpen({ ended_at }: Pick<Turn, 'ended_at'>): boolean {
  return ended_at === null;
}

/** `isWhole`: no later steps have been recorded. `now` is where what has not ended ends. */
export function rowsOf(turn: Turn, steps: readonly Step[], isWhole: boolean, now: number): TimelineRow[] {
  const rows = steps.flatMap((step) => [
    modelRow(step),
    ...step.calls.flatMap((call) => [
      callRow(step.step, call, now),
      ...call.work.map((work) => workRow(`${step.step}.${call.index}`, work, now)),
    ]),
  ]);
  const last = steps.at(-1);
  const isBusy = last?.calls.some(({ state }) => state !== 'done');
  if (!isWhole || isBusy || turn.status === 'queued' || turn.status === 'completed') return rows;
  return [...rows, lastRow(turn, last, now)];
}

/** The model call that nobody has an answer of: it runs, or the turn has ended in it. */
function lastRow(turn: Turn, before: Step | undefined, now: number): TimelineRow {
  const ends = [before?.ended_at ?? turn.started_at, ...(before?.calls ?? []).map((call) => call.ended_at)];
  const from = Math.max(...ends.map((at) => timeOf(at, 0)));
  const next = `${(before?.step ?? 0) + 1}`;
  const isRunning = isOpen(turn);
  return {
    key: next,
    name: next,
    summary: isRunning ? 'The model is asked' : noted([turn.status, turn.error?.code]),
    state: isRunning ? 'running' : 'failed',
    bars: [{ kind: 'model', from, to: timeOf(turn.ended_at, now) }],
    note: '',
  };
}

/** The times between which everything happened. */
export function spanOf(turn: Turn, rows: readonly TimelineRow[], now: number) {
  const from = timeOf(turn.started_at ?? turn.created_at, now);
  const bars = rows.flatMap((row) => row.bars);
  // Work that was given away may go on after the turn.
  const to = bars.reduce((end, bar) => Math.max(end, bar.to), timeOf(turn.ended_at, from));
  return { from, length: Math.max(1, to - from) };
}

function modelRow(step: Step): TimelineRow {
  const bar = { kind: 'model' as const, from: Date.parse(step.started_at), to: Date.parse(step.ended_at) };
  const { model, attempt, cost_usd: usd } = step;
  const isModel = model !== 'none';
  return {
    key: `${step.step}`,
    name: `${step.step} ${isModel ? (model ?? '') : 'a person'}`,
    summary: step.text,
    state: 'done',
    bars: [bar],
    note: noted([
      durationText(bar.to - bar.from),
      isModel && `${step.input_tokens + step.output_tokens} tokens`,
      isModel && usd !== null && moneyText(usd),
      (attempt ?? 1) > 1 && `attempt ${attempt}`,
    ]),
  };
}

function callRow(step: number, call: Call, now: number): TimelineRow {
  const { approval, attempts, code, state } = call;
  const isWaiting = approval?.status === 'pending';
  const bars = barsOf(call, now);
  const ran = bars.find(({ kind }) => kind === 'tool');
  const states = { requested: 'waiting', running: 'running', done: call.ok ? 'done' : 'failed' } as const;
  return {
    key: `${step}.${call.index}`,
    name: call.summary,
    summary: '',
    state: isWaiting ? 'waiting' : states[state],
    bars,
    note: noted([
      ran && durationText(ran.to - ran.from),
      attempts > 1 && `${attempts} attempts`,
      isWaiting ? 'waits for approval' : approval?.status,
      code,
    ]),
  };
}

function barsOf({ approval, attempts, state, ...call }: Call, now: number): readonly Bar[] {
  const bars: Bar[] = [];
  let from = timeOf(call.created_at, now);
  if (approval) {
    const to = timeOf(approval.decided_at ?? call.ended_at, now);
    bars.push({ kind: 'wait', from: timeOf(approval.created_at, now), to });
    from = to;
  }
  // Only a call that is claimed records when it began.
  if (attempts > 0) from = timeOf(call.started_at, now);
  return state === 'requested' ? bars : [...bars, { kind: 'tool', from, to: timeOf(call.ended_at, now) }];
}

function workRow(above: string, work: Work, now: number): TimelineRow {
  const bar = {
    kind: 'work' as const,
    from: timeOf(work.started_at ?? work.created_at, now),
    to: timeOf(work.ended_at, now),
  };
  const { status } = work;
  const good = status === 'completed' || status === 'approved';
  return {
    key: `${above}.${work.id}`,
    name: work.kind,
    summary: work.label,
    state: work.ended_at === null ? 'running' : good ? 'done' : 'failed',
    bars: [bar],
    note: noted([durationText(bar.to - bar.from), status]),
  };
}

function timeOf(at: string | null | undefined, otherwise: number): number {
  return at ? Date.parse(at) : otherwise;
}

function noted(parts: readonly (string | false | null | undefined)[]): string {
  return parts.filter(Boolean).join(' · ');
}
