/** The trace that a turn belongs to. */
import { readTraceparent, type TraceContext } from '#domain/turn/trace.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import { ownTraceId, spanIdOf } from '#store/turns/span-ids.ts';

/** That of its caller; otherwise its own, in which its span has no parent. */
export function traceOfTurn(
  tenant: string,
  turn: string,
  context: Pick<MessageContext, 'trace'>,
  sampleRatio: number,
): TraceContext {
  const caller = readTraceparent(context.trace);
  if (caller) return caller;
  const traceId = ownTraceId(tenant, turn);
  return { traceId, spanId: spanIdOf(tenant, turn), isSampled: isSampled(traceId, sampleRatio) };
}

/** The same for each system that samples by the id (W3C Trace Context level 2: its last 56 bits are random). */
function isSampled(traceId: string, ratio: number): boolean {
  return Number.parseInt(traceId.slice(-14), 16) < ratio * 2 ** 56;
}
