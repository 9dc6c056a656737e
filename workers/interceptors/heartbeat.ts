/**
 * Sends heartbeats for every regular activity from a timer that starts before its first line runs. Cancellation arrives
 * only with heartbeats, and an activity that sends its own would not do so while it waits. The start counts as the
 * first heartbeat, so a short activity costs the server no write for it.
 */
import type { ActivityInboundCallsInterceptor, ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Context } from '@temporalio/activity';

/** Under a third of the shortest heartbeat timeout in workflows/activity-options.ts. */
export const HEARTBEAT_MS = 600;

export const heartbeatInterceptor: ActivityInterceptorsFactory = (context: Context) => ({
  inbound: inbound(context),
});

function inbound(context: Context): ActivityInboundCallsInterceptor {
  return {
    async execute(input, next) {
      if (context.info.heartbeatTimeoutMs === undefined) return next(input);
      const timer = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
      try {
        return await next(input);
      } finally {
        clearInterval(timer);
      }
    },
  };
}
