/**
 * A session may have stand-ins: what its models, tools and people would answer comes from them, and no tool runs. The
 * context that is bound to the session says so (`MessageContext.stand_ins`), so that other sessions pay nothing.
 */
import type { AgentConfig } from '#domain/agent.ts';
import { Failure } from '#domain/errors.ts';
import type { ModelAnswer, ModelRequest } from '#domain/model/model.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import type { CallPlan } from './tool-call/plan-calls.ts';
import type { Step } from './turn/step.ts';

/** What decides about a step: the agent as its turn has it, and the policy of its tenant. */
export interface Deciding {
  readonly agent: AgentConfig;
  readonly tenant_policy: TenantPolicy | null;
}

export interface StandIns {
  /** What decides in this session in place of what is in force. Safe to repeat. @throws Failure NotRecorded */
  decidedBy(step: Pick<Step, 'tenant' | 'session' | 'context'>, inForce: Deciding): Promise<Deciding>;
  /**
   * The answer in place of a model's; undefined when the model itself is to answer. Safe to repeat. @throws Failure
   * NotRecorded; RecordingDiffers; ModelFailed for an answer that is a failure
   */
  answer(
    step: Step,
    request: Omit<ModelRequest, 'model'>,
    kind: 'answer' | 'summary',
  ): Promise<ModelAnswer | undefined>;
  /**
   * The same calls, each with its result, so that none is run and nobody is asked. Safe to repeat. @throws Failure
   * NotRecorded; RecordingDiffers
   */
  settle(step: Step, plan: CallPlan): Promise<CallPlan>;
}

/** For a build without the feature that has them: such a session does nothing. */
export const NO_STAND_INS: StandIns = { decidedBy: refuse, answer: refuse, settle: refuse };

function refuse(): Promise<never> {
  return Promise.reject(
    new Failure('NotRecorded', 'this session is a replay, and this build has no feature that replays'),
  );
}
