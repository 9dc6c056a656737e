/**
 * Ids of the trace and the spans of a turn. They derive from our ids, so that every process knows them, and a trace that
 * is exported twice is the same trace.
 */
import { createHash } from 'node:crypto';
import { readTraceparent, traceparentOf } from '#domain/turn/trace.ts';
import type { MessageContext } from '#domain/turn/turn.ts';

/** The span of a turn, a model call (by its answer), a tool call or an approval. */
export function spanIdOf(tenant: string, id: string): string {
  return digest(`span/${tenant}/${id}`, 16);
}

/** The trace of a turn without a caller's. */
export function ownTraceId(tenant: string, id: string): string {
  return digest(`trace/${tenant}/${id}`, 32);
}

/** The header for what a part of a turn causes; undefined when the turn has no trace. */
export function traceparentFrom(
  tenant: string,
  context: Pick<MessageContext, 'trace'>,
  part: string,
): string | undefined {
  const trace = readTraceparent(context.trace);
  return trace && traceparentOf({ ...trace, spanId: spanIdOf(tenant, part) });
}

/** The same context for work that a call gives to another session. */
export function tracedFrom(tenant: string, context: MessageContext, call: string): MessageContext {
  const trace = traceparentFrom(tenant, context, call);
  return trace === undefined ? context : { ...context, trace };
}

/** Never only zeros: that has a probability of 2^-64. */
function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}
