/** Splits a post into text messages with the buttons in the last one, as several services need. */
import type { ChannelPost } from '../contract.ts';

export function postParts(
  { markdown, buttons = [] }: ChannelPost,
  split: (markdown: string, hasButtons: boolean) => readonly string[],
): readonly ChannelPost[] {
  const texts = split(markdown, buttons.length > 0);
  return texts.map((part, index) => ({
    markdown: part,
    ...(index === texts.length - 1 && { buttons }),
  }));
}
