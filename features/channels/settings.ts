/** IN-4: addresses of chat services that are not the usual ones. */
import { z } from 'zod';
import { defineSection } from '#config/section.ts';
import { httpUrl } from '#domain/schema/scalars.ts';
const service = z.strictObject({ baseUrl: httpUrl.exactOptional() }).prefault({});
const schema = z.strictObject({ telegram: service, slack: service, discord: service }).prefault({});

declare module '#config/section.ts' {
  interface FeatureSettings {
    readonly channels: z.output<typeof schema>;
  }
}

export const channelsSettings = defineSection({
  name: 'channels',
  schema,
  variables: [
    [['TELEGRAM_BASE_URL'], 'channels.telegram.baseUrl', 'text'],
    [['SLACK_BASE_URL'], 'channels.slack.baseUrl', 'text'],
    [['DISCORD_BASE_URL'], 'channels.discord.baseUrl', 'text'],
  ],
});
