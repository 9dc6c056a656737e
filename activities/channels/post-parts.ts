/** What services have in common: a post in messages, each a text or a file, the buttons with the last. */
import type { ChannelPost } from '#domain/channel.ts';

export function postParts(
  { markdown, buttons = [], files = [], replyTo }: ChannelPost,
  split: (markdown: string, hasButtons: boolean) => readonly string[],
): readonly ChannelPost[] {
  const parts: ChannelPost[] = [
    ...split(markdown, buttons.length > 0).map((part) => ({ markdown: part })),
    ...files.map((file) => ({ markdown: '', files: [file] })),
  ];
  return parts.map((part, index) => ({
    ...part,
    ...(index === 0 && { replyTo }),
    ...(index === parts.length - 1 && { buttons }),
  }));
}
