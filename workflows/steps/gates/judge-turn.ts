/** Quality gates over a turn's answer (DE-6), before anybody reads it; a revision is more steps of the same turn. */
import { GATE_WORDS, type GateCursor, type ShownGate } from '#domain/gate/gate.ts';
import type { QueuedTurn, StopInput } from '#domain/turn/turn.ts';
import { runGates } from './run-gates.ts';
import type { TurnView } from '../turn-view.ts';

export interface TurnAnswer {
  readonly step: number;
  readonly preview: string;
}

export interface JudgedTurn {
  readonly tenant: string;
  readonly turn: QueuedTurn;
  readonly gates: readonly ShownGate[];
  readonly from: GateCursor | undefined;
  readonly pendingStop: () => StopInput | undefined;
  /** Lets the model continue with this message; undefined when it gave no answer. */
  readonly revise: (messageId: string, next: GateCursor) => Promise<TurnAnswer | undefined>;
  readonly view: Pick<TurnView, 'check' | 'call'>;
}

/** The answer to release, or why there is none; `next` is where judging starts for another answer. */
export type TurnVerdict = { readonly next: GateCursor } & (
  | { readonly kind: 'released'; readonly answer: TurnAnswer }
  | { readonly kind: 'blocked'; readonly message: string }
);

export async function judgeTurn(work: JudgedTurn, first: TurnAnswer): Promise<TurnVerdict> {
  let answer = first;
  const { blocked, next } = await runGates({
    tenant: work.tenant,
    kind: 'turn',
    owner_id: work.turn.turnId,
    label: work.turn.preview ?? work.turn.turnId,
    gates: work.gates,
    from: work.from,
    limits: {
      // A turn has no time limit; each gate has its own.
      deadline: Number.POSITIVE_INFINITY,
      isCancelRequested: () => work.pendingStop() !== undefined,
      cancelRequest: () => work.pendingStop() ?? {},
    },
    step: () => answer.step,
    async revise(messageId, cursor) {
      const revised = await work.revise(messageId, cursor);
      answer = revised ?? answer;
      return revised !== undefined;
    },
    onCheck: work.view.check,
    onAsk: work.view.call,
  });
  const cursor = { gate: 0, attempt: next, first: next };
  if (!blocked) return { kind: 'released', answer, next: cursor };
  const message = GATE_WORDS.blocked(
    blocked.gate,
    blocked.preview,
    blocked.attempt - (work.from?.first ?? 0),
  );
  return { kind: 'blocked', message, next: cursor };
}
