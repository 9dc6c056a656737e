/**
 * Sends heartbeats for every regular activity from a timer that starts before its first line runs. Cancellation arrives
 * only with heartbeats, and an activity that sends its own would not do so while it waits. The start counts as the
 * first heartbeat, so a short activity costs the server no write for it.
 */
import type { ActivityInboundCallsInterceptor, ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Context } from '@temporalio/activity';

/** Part of an activity's heartbeat timeout between two heartbeats, so that one of three may be late. */
const SHARE = 0.3;

/** The least time between two heartbeats of an activity: the SDK holds back those that come sooner. */
export const HEARTBEAT_MS = 600;

/** A stop arrives at once: after this, the workflow task that cancels the activity has usually ended. */
const STOP_MS = 50;

export interface Heartbeats {
  readonly interceptor: ActivityInterceptorsFactory;
  /**
   * Sends heartbeats for the activities of this workflow, or of all workflows, because a cancellation may wait there.
   */
  stopWaits(workflowId: string | undefined): void;
}

export function createHeartbeats(): Heartbeats {
  const running = new Set<Context>();
  return {
    interceptor: (context) => ({ inbound: inbound(context, running) }),
    stopWaits(workflowId) {
      for (const context of running) {
        if (workflowId !== undefined && context.info.workflowExecution?.workflowId !== workflowId) continue;
        // The second one is for a workflow task that took longer than usual.
        for (const wait of [STOP_MS, STOP_MS + HEARTBEAT_MS])
          setTimeout(() => running.has(context) && context.heartbeat(), wait).unref();
      }
    },
  };
}

function inbound(context: Context, running: Set<Context>): ActivityInboundCallsInterceptor {
  return {
    async execute(input, next) {
      const { heartbeatTimeoutMs } = context.info;
      if (heartbeatTimeoutMs === undefined) return next(input);
      running.add(context);
      const timer = setInterval(
        () => context.heartbeat(),
        Math.max(HEARTBEAT_MS, heartbeatTimeoutMs * SHARE),
      );
      try {
        return await next(input);
      } finally {
        clearInterval(timer);
        running.delete(context);
      }
    },
  };
}
