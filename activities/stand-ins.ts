/**
 * A session may have stand-ins: what its models, tools and people would answer comes from them, and no tool runs. The
 * context that is bound to the session says so (`MessageContext.stand_ins`), so that other sessions pay nothing.
 */
import { Failure } from '#domain/errors.ts';
import type { ModelAnswer, ModelRequest } from '#domain/model/model.ts';
import type { CallPlan } from './tool-call/plan-calls.ts';
import type { Step } from './turn/step.ts';

export interface StandIns {
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
export const NO_STAND_INS: StandIns = { answer: refuse, settle: refuse };

function refuse(): Promise<never> {
  return Promise.reject(
    new Failure('NotRecorded', 'this session is a replay, and this build has no feature that replays'),
  );
}
