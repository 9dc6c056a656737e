/** What a message of a chat says to the model: its words, and what came with them. */
import type { WaitingMessage } from '../contract.ts';
import { cleanOutsideText } from '#domain/text/hidden-text.ts';
import { markOutside } from '#domain/text/outside-text.ts';

/**
 * A paired person's words are the user's own. Anybody else's words, and forwarded ones, are data (SC-4), and so are
 * names of files, whoever sends them.
 */
export function messageText(
  { text, isOwn, marker: id, source }: Pick<WaitingMessage, 'text' | 'isOwn' | 'marker' | 'source'>,
  lines: string,
): string {
  const words = text.trim() === '' ? [] : [cleanOutsideText(text)];
  const received = lines === '' ? [] : [lines];
  if (!isOwn) return markOutside({ id, source, text: [...words, ...received].join('\n') });
  return [...words, ...received.map((value) => markOutside({ id, source, text: value }))].join('\n');
}
