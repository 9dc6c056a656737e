/** The types of channels: how the API checks their settings, and receives from their services. */
import type { z } from 'zod';
import type { ApiDeps } from '#api/deps.ts';
import type { Feature, Load } from '#domain/feature.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import type { CHANNEL_TYPES, ChannelCredentials, Inbound } from '../contract.ts';
import { CHAT_SETTINGS, type ChannelSettings } from '../schema.ts';
import type { ChannelRow } from '../store/channel-store.ts';
import type { ChannelReader } from './channel-reader.ts';
import { discordReader } from '../discord/reader.ts';
import { slackReader } from '../slack/reader.ts';
import { telegramReader } from '../telegram/reader.ts';

declare module '#domain/feature.ts' {
  interface Feature {
    /** Further types of channels by their names, which the table of channels allows. */
    readonly channelTypes?: Readonly<Record<string, Load<{ readonly channelType: ChannelTypePart }>>>;
  }
}

export interface SettingsProblem {
  readonly field: string;
  readonly message: string;
}

export interface ChannelTypePart {
  /** Names of the settings that are sealed and never shown again; `secret://NAME` may replace a value. */
  readonly credentials: readonly string[];
  /**
   * Names of the other settings. All others are refused, because they may be a credential, which would be stored in
   * clear text.
   */
  readonly settings: readonly string[];
  /** Checks the settings that only this type has. */
  readonly schema?: z.ZodType;
  /**
   * Says what is wrong with settings that match the schema, by field, such as something that they name and that does not
   * exist. The credentials are opened.
   */
  problem?(
    db: TenantDb,
    settings: ChannelSettings,
    credentials: ChannelCredentials,
  ): Promise<SettingsProblem | undefined>;
  /** Absent if messages are accepted only over the API. */
  readonly reader?: ChannelReader;
  /** Begins the work of an inbound that is no message; returns false for a message. Safe to repeat. @throws Failure */
  begin?(deps: ApiDeps, tenant: string, channel: ChannelRow, inbound: Inbound): Promise<boolean>;
}

export type ChannelTypes = Readonly<Record<string, ChannelTypePart>>;

const OWN: Readonly<Record<(typeof CHANNEL_TYPES)[number], ChannelTypePart>> = {
  telegram: {
    // The token from @BotFather, and the `secret_token` that was passed to setWebhook.
    credentials: ['token', 'secret_token'],
    settings: [...CHAT_SETTINGS, 'username'],
    // Telegram accepts no other (core.telegram.org/bots/api#setwebhook).
    problem: credentialForm('secret_token', /^[\w-]{1,256}$/, 'must be 1 to 256 letters, digits, _ and -'),
    reader: telegramReader,
  },
  slack: {
    // The bot's token (xoxb-…), and the app's signing secret.
    credentials: ['token', 'signing_secret'],
    settings: CHAT_SETTINGS,
    reader: slackReader,
  },
  discord: {
    // The public key is no secret, but belongs to the credentials: 64 hex digits.
    credentials: ['token', 'public_key'],
    settings: CHAT_SETTINGS,
    problem: credentialForm('public_key', /^[0-9a-f]{64}$/i, 'must be 64 hexadecimal digits'),
    reader: discordReader,
  },
  web: { credentials: [], settings: ['allowed_tools', 'topics'] },
};

/** With a credential of another form, the channel would refuse all that its service sends. */
function credentialForm(
  field: string,
  form: RegExp,
  message: string,
): NonNullable<ChannelTypePart['problem']> {
  return async (_db, _settings, credentials) =>
    form.test(credentials[field] ?? '') ? undefined : { field, message };
}

/** The types of this feature, and those that others add. */
export async function loadChannelTypes(features: readonly Feature[]): Promise<ChannelTypes> {
  const added = features.flatMap(({ channelTypes = {} }) => Object.entries(channelTypes));
  const loaded = added.map(async ([type, load]) => [type, (await load()).channelType] as const);
  return { ...OWN, ...Object.fromEntries(await Promise.all(loaded)) };
}
