/**
 * The services that channels support, as the API receives from them. Channels of other types accept messages only over
 * the API.
 */
import type { ChannelType } from '../contract.ts';
import type { ChannelReader } from './channel-reader.ts';
import { discordReader } from '../discord/reader.ts';
import { slackReader } from '../slack/reader.ts';
import { telegramReader } from '../telegram/reader.ts';
import { webhookReader } from '#features/webhooks-in/index.ts';

export const READERS: Readonly<Partial<Record<ChannelType, ChannelReader>>> = {
  telegram: telegramReader,
  slack: slackReader,
  discord: discordReader,
  webhook: webhookReader,
};
