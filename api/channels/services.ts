/** The services that channels may be of, as the API hears them. Those without one take messages over the API only. */
import type { ChannelType } from '#domain/channel.ts';
import type { ChannelReader } from './channel-reader.ts';
import { discordReader } from './discord.ts';
import { slackReader } from './slack.ts';
import { telegramReader } from './telegram.ts';
import { webhookReader } from './webhook.ts';

export const READERS: Readonly<Partial<Record<ChannelType, ChannelReader>>> = {
  telegram: telegramReader,
  slack: slackReader,
  discord: discordReader,
  webhook: webhookReader,
};
