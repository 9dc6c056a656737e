/** The text of an answer as it is written, from the events of its turn. */
import type { StoredEvent } from '#domain/event.ts';

export interface AnswerText {
  /** Takes an event and returns the text that it adds. */
  add(event: Pick<StoredEvent, 'type' | 'data'>): string;
  /** All text until now. */
  whole(): string;
}

/** Text that was sent cannot be taken back: what is written again follows after an empty line. */
export function createAnswerText(): AnswerText {
  let whole = '';
  let place = '';
  /** The text of the present step and attempt. */
  let part = '';
  const append = (text: string): string => {
    const added = part === '' && whole !== '' && text !== '' ? `\n\n${text}` : text;
    part += text;
    whole += added;
    return added;
  };
  const moveTo = (next: string): void => {
    if (next === place) return;
    place = next;
    part = '';
  };
  return {
    add({ type, data }) {
      const step = String(data['step']);
      const text = typeof data['text'] === 'string' ? data['text'] : '';
      if (type === 'message.delta') {
        moveTo(`${step}/${String(data['attempt'])}`);
        return append(text);
      }
      if (type === 'message.completed') {
        if (!place.startsWith(`${step}/`)) moveTo(`${step}/`);
        // What was sent is scrubbed piece by piece, and may differ from the whole.
        return text.startsWith(part) ? append(text.slice(part.length)) : '';
      }
      return '';
    },
    whole: () => whole,
  };
}
