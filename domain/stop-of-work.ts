/** How a session is told to stop that works for somebody else: all of it, named by the message that gave it its work. */
import { turnIdOf } from './ids.ts';
import type { StopInput } from './turn.ts';

/** The reason of a stop by the clock. */
export const TIME_UP = 'its time was up';

export function stopOfWork(
  messageId: string,
  { by = 'system', reason }: { readonly by?: string | undefined; readonly reason?: string | undefined },
): StopInput {
  return { level: 'all', turn_id: turnIdOf(messageId), by, reason };
}
