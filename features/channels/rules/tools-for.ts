/** Narrows an agent's tools to those of a channel. */
import type { ChannelPlace } from '../contract.ts';
import type { ChannelSettings } from '../schema.ts';

/** PO-1, the seventh step: a topic's own list precedes that of its chat, and that precedes the channel's. */
export function toolsFor(
  { topics = {}, allowed_tools }: ChannelSettings,
  { chat, thread }: ChannelPlace,
): readonly string[] | undefined {
  const names = thread === undefined ? [chat] : [`${chat}/${thread}`, thread, chat];
  const found = names.find((name) => Object.hasOwn(topics, name));
  return found === undefined ? allowed_tools : topics[found]?.allowed_tools;
}
