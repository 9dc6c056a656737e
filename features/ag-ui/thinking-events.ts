/** What the model thinks, as messages of reasoning: one for each time that it thinks. */
import { type AGUIEvent, EventType } from '@ag-ui/core';
import type { Seen } from './run-input.ts';

export interface ThinkingEvents {
  add(step: string, attempt: string, text: string): AGUIEvent[];
  close(): AGUIEvent[];
}

/** Only what the client does not have is sent; the same events have the same ids. */
export function createThinkingEvents(turn: string, seen: Seen['texts']): ThinkingEvents {
  const counts = new Map<string, number>();
  let open: { readonly id: string; readonly place: string; length: number; isSent: boolean } | undefined;

  function begin(place: string): NonNullable<typeof open> {
    const count = (counts.get(place) ?? 0) + 1;
    counts.set(place, count);
    return { id: `${turn}.${place}.thinking.${count}`, place, length: 0, isSent: false };
  }

  function close(): AGUIEvent[] {
    const closed = open;
    open = undefined;
    if (!closed?.isSent) return [];
    const { id: messageId } = closed;
    return [
      { type: EventType.REASONING_MESSAGE_END, messageId },
      { type: EventType.REASONING_END, messageId },
    ];
  }

  return {
    close,
    add(step, attempt, text) {
      const place = `${step}.${attempt}`;
      const closing = open && open.place !== place ? close() : [];
      open ??= begin(place);
      const { id: messageId, length, isSent } = open;
      const delta = text.slice(Math.max(0, (seen.get(messageId)?.length ?? 0) - length));
      open.length += text.length;
      if (delta === '') return closing;
      open.isSent = true;
      const opening: AGUIEvent[] = [
        { type: EventType.REASONING_START, messageId },
        { type: EventType.REASONING_MESSAGE_START, messageId, role: 'reasoning' },
      ];
      const content: AGUIEvent = { type: EventType.REASONING_MESSAGE_CONTENT, messageId, delta };
      return [...closing, ...(isSent ? [] : opening), content];
    },
  };
}
