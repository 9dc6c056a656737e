/** The services that channels may be of, as the API hears them. Those without one take messages over the API only. */
import type { ChannelType } from '../contract.ts';
import type { ChannelReader } from './channel-reader.ts';
import { discordReader } from '../discord/reader.ts';
import { slackReader } from '../slack/reader.ts';
import { telegramReader } from '../telegram/reader.ts';
import { webhookReader } from '../webhook/reader.ts';

export const READERS: Readonly<Partial<Record<ChannelType, ChannelReader>>> = {
  telegram: telegramReader,
  slack: slackReader,
  discord: discordReader,
  webhook: webhookReader,
};
