/** DU-9: how each call of a turn can be reversed. It only decides; the rows are read and written elsewhere. */
import { RESTORE_FILE } from '#domain/files/before-image.ts';
import type { ReversalAction } from './contract.ts';
import { type Redirect, replayOf, type Tool } from '#policy/define-tool.ts';

/** A call of the turn, and what became of its reversal. */
export interface CallToUndo {
  readonly id: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly ok: boolean | null;
  readonly code: string | null;
  readonly result: string | null;
  /** It was claimed by a worker: before that, it has done nothing. */
  readonly hasRun: boolean;
  readonly child: string | null;
  /** What the file had that it wrote. */
  readonly isKept: boolean;
  readonly reversal: Reversal | null;
}

export interface Reversal {
  readonly turn: string;
  readonly call: string;
  /** `absent`: its turn is not there yet, because the request that asked for it was cut off. */
  readonly status: 'absent' | 'running' | 'reversed' | 'unknown' | 'failed';
}

/** What is to be done about a call, and why not more. */
export interface PlannedReversal {
  readonly call: CallToUndo;
  readonly action: ReversalAction;
  readonly reason: string | null;
  /** The call that reverses it. */
  readonly by: Redirect | null;
}

/** Codes of calls that write files, by which nothing was written. */
const REFUSALS = new Set(['InvalidArgs', 'InvalidPath', 'FileNotFound', 'PermissionDenied']);

/** Newest first: what was done last is undone first. */
export function planUndo(
  calls: readonly CallToUndo[],
  toolOf: (name: string) => Tool | undefined,
): readonly PlannedReversal[] {
  return calls.toReversed().map((call) => planCall(call, toolOf(call.tool)));
}

function planCall(call: CallToUndo, tool: Tool | undefined): PlannedReversal {
  const plan = (action: PlannedReversal['action'], reason: string | null, by: Redirect | null = null) => ({
    call,
    action,
    reason,
    by,
  });
  const { reversal } = call;
  if (reversal?.status === 'running') return plan('running', `the turn ${reversal.turn} reverses it`);
  if (reversal?.status === 'reversed') return plan('reversed', `the turn ${reversal.turn} has reversed it`);
  if (reversal?.status === 'unknown')
    return plan('unknown', `whether the turn ${reversal.turn} has reversed it is not known; look yourself`);
  if (!call.hasRun) return plan('nothing', 'it has not run');
  if (!tool) return plan('irreversible', 'its tool is not there any more');
  if (replayOf(tool, call.args) === 'readonly') return plan('nothing', 'it only reads');
  return planEffect(call, tool, plan);
}

function planEffect(
  call: CallToUndo,
  { inverse }: Tool,
  plan: (action: PlannedReversal['action'], reason: string | null, by?: Redirect) => PlannedReversal,
): PlannedReversal {
  const isUncertain = call.ok !== true;
  const by = inverse?.(call.args, { id: call.id, result: call.result ?? '', isUncertain });
  const { reversal } = call;
  const before = reversal?.status === 'failed' ? `the turn ${reversal.turn} could not reverse it` : null;
  const isKept = by?.tool !== RESTORE_FILE || call.isKept;
  if (by && isKept) return plan('reverse', before, by);
  if (isUncertain) return plan(...afterError(call.code ?? 'an error', isKept));
  if (!isKept)
    return plan(
      'irreversible',
      'what the file had before is not kept: it was too large or too much, or is too old',
    );
  if (call.child !== null) return plan('irreversible', 'other turns have done its work; undo those');
  return plan('irreversible', `${call.tool} cannot reverse ${inverse ? 'a call like this' : 'its calls'}`);
}

/** `isKept` is false for a tool that keeps what a file had before it writes, and has kept nothing. */
function afterError(code: string, isKept: boolean): readonly [action: ReversalAction, reason: string] {
  return isKept || !REFUSALS.has(code)
    ? ['unknown', `it ended with ${code}; look whether it had an effect`]
    : ['nothing', `it was refused: ${code}`];
}
