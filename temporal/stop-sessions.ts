/** Stops a session's running turn, also one whose run Temporal sends no more signals to. */
import { sessionWorkflowId } from '#domain/ids.ts';
import { AGENT_TURN, type StopInput } from '#domain/turn/turn.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import { TooManySignals } from './server-limits.ts';

/** False when no turn runs in the session. Safe to repeat: a stop names its turn. */
export type StopSession = (tenant: string, session: string, stop: StopInput) => Promise<boolean>;

/** A signal waits for a worker; the update, which needs one now, is for a run that has had too many signals. */
export function sessionStopOf(reach: Pick<WorkflowReach, 'signal' | 'update'>): StopSession {
  return async (tenant, session, stop) => {
    const workflow = sessionWorkflowId(tenant, session);
    try {
      return await reach.signal(workflow, AGENT_TURN.signals.stop, stop);
    } catch (error) {
      if (!(error instanceof TooManySignals)) throw error;
      const key = `stop/${stop.level}/${stop.turn_id}`;
      return (await reach.update(workflow, AGENT_TURN.updates.stop, stop, key)) !== undefined;
    }
  };
}
