/** Whether a turn's session has stand-ins: nothing real is asked or run there (activities/stand-ins.ts). */
import type { MessageContext } from './turn.ts';

export function hasStandIns({ stand_ins }: Pick<MessageContext, 'stand_ins'>): boolean {
  return stand_ins !== undefined;
}
