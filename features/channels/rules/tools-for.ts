/** What a channel narrows the tools of its agent to. */
import type { ChannelPlace } from '../contract.ts';
import type { ChannelSettings } from '../schema.ts';

/** PO-1, the seventh step: a topic's own list goes before that of its chat, and this before the channel's. */
export function toolsFor(
  { topics = {}, allowed_tools }: ChannelSettings,
  { chat, thread }: ChannelPlace,
): readonly string[] | undefined {
  const names = thread === undefined ? [chat] : [`${chat}/${thread}`, thread, chat];
  const found = names.find((name) => Object.hasOwn(topics, name));
  return found === undefined ? allowed_tools : topics[found]?.allowed_tools;
}
