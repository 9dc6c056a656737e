/** The services that channels support, as workers call them. Channels of other types are read through the API. */
import type { ChannelType } from '../contract.ts';
import type { ChannelSender } from './channel-sender.ts';
import { discordSender } from '../discord/sender.ts';
import { slackSender } from '../slack/sender.ts';
import { telegramSender } from '../telegram/sender.ts';

export const SENDERS: Readonly<Partial<Record<ChannelType, ChannelSender>>> = {
  telegram: telegramSender,
  slack: slackSender,
  discord: discordSender,
};
