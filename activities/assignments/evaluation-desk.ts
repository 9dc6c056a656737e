/** What the tool `evaluate_loop` does beyond its words (DE-4): asks the links of both agents, and begins the rounds. */
import { createHash } from 'node:crypto';
import { DELEGATION_LIMITS } from '#domain/delegation.ts';
import { EVALUATE_LOOP } from '#domain/evaluate-loop.ts';
import { evaluationWorkflowId } from '#domain/ids.ts';
import type { ChildStart } from '#domain/turn.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { DelegationDesk } from './delegation-desk.ts';
import { evaluationInput } from '#temporal/assignment-inputs.ts';
import type { ScrubberOf } from '#store/secrets/scrubber.ts';
import type { EvaluationStore } from '#store/evaluation-store.ts';

export interface EvaluationRequest {
  readonly generator: string;
  readonly evaluator: string;
  readonly task: string;
  readonly label: string;
  readonly criteria?: string;
  readonly context?: string;
  readonly rounds: number;
}

export type BegunEvaluation =
  | { readonly kind: 'begun'; readonly child: ChildStart }
  | { readonly kind: 'refused'; readonly code: 'NotFound' | 'PermissionDenied'; readonly message: string };

export interface EvaluationDesk {
  /** Runs again safely: a call begins one evaluation. */
  begin(call: RunningCall, request: EvaluationRequest): Promise<BegunEvaluation>;
}

export function createEvaluationDesk(deps: {
  readonly evaluations: EvaluationStore;
  readonly mayGive: DelegationDesk['mayGive'];
  readonly scrubberOf: ScrubberOf;
}): EvaluationDesk {
  return {
    async begin(call, request) {
      for (const agent of new Set([request.generator, request.evaluator])) {
        const refusal = await deps.mayGive(call, agent);
        if (refusal) return { kind: 'refused', ...refusal };
      }
      const { tenant } = call;
      const scrubber = await deps.scrubberOf(tenant);
      const { criteria, context } = request;
      const work = {
        id: evaluationIdOf(tenant, call.callId),
        session: call.sessionKey,
        turn: call.turnId,
        call: call.callId,
        generator: request.generator,
        evaluator: request.evaluator,
        label: scrubber.preview(request.label, LABEL),
        task: scrubber.text(request.task),
        criteria: criteria === undefined ? undefined : scrubber.text(criteria),
        context_text: context === undefined ? undefined : scrubber.text(context),
        max_rounds: request.rounds,
      };
      const taken = await deps.evaluations.take(tenant, work, DELEGATION_LIMITS.depth);
      if (taken.kind === 'refused') {
        const message = `delegation depth limit reached (${taken.have}/${taken.most})`;
        return { kind: 'refused', code: 'PermissionDenied', message };
      }
      const { row } = taken;
      const labels = { tenant, session: call.sessionKey, agent: call.agent };
      return {
        kind: 'begun',
        child: {
          type: EVALUATE_LOOP.type,
          id: evaluationWorkflowId(row.id),
          input: { ...evaluationInput(tenant, row) },
          wait: true,
          labels: { ...labels, user: row.user_id ?? undefined },
        },
      };
    },
  };
}

const LABEL = 100;

/** Of the call that begins it, so that a call which runs twice begins one. */
function evaluationIdOf(tenant: string, callId: string): string {
  return `evl-${createHash('sha256').update(`${tenant}\n${callId}`).digest('hex').slice(0, 16)}`;
}
