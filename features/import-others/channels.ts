/** Channels of other systems as ours. Their tokens become references to secrets. */
import type { Fields } from '#domain/outside-value.ts';
import { channelCreateSchema } from '#features/channels/schema.ts';
import { type Findings, keep, remarkRest, secretReference } from './findings.ts';

/** The credentials that a channel of ours needs, by its type. */
const CREDENTIALS: Readonly<Record<string, readonly string[]>> = {
  telegram: ['token', 'secret_token'],
  slack: ['token', 'signing_secret'],
  discord: ['token', 'public_key'],
};

/** What the services call with, which the other systems do not have: they fetch messages themselves. */
const NEW_SECRETS: Readonly<Record<string, string>> = {
  telegram: 'choose any 32 letters and digits',
  slack: 'it is the signing secret of the app, under Basic Information',
  discord: 'it is the public key of the application, under General Information',
};

const PEOPLE: Readonly<Record<string, string>> = { pairing: 'pairing', open: 'open', allowlist: 'list' };

export const CHANNEL_REASONS = {
  proxy: 'requests go through the proxy of the settings',
  groups: 'set topics of the channel to narrow tools, or make a channel for each agent',
  history_limit: 'a session keeps its whole conversation',
} as const;

export interface FoundChannel {
  readonly type: string;
  readonly agent: string;
  /** `pairing`, `open`, `allowlist`, `disabled`. */
  readonly people: unknown;
  /** `mention`, `open`, `allowlist`, `disabled`. */
  readonly groups: unknown;
  readonly requireMention: unknown;
  readonly allowFrom: unknown;
  readonly stream: unknown;
  /** What is set besides, which is only reported. */
  readonly rest: Fields;
}

/** Adds a channel under the name of its type. */
export function addChannel(findings: Findings, found: FoundChannel): void {
  const { type, agent, people, groups, rest } = found;
  const what = `channel ${type}`;
  const names = CREDENTIALS[type];
  if (!names) {
    findings.remarks.push({ what, why: 'there is no channel of this type' });
    return;
  }
  const settings = {
    people: PEOPLE[String(people)] ?? 'pairing',
    groups: groups === 'disabled' ? 'none' : found.requireMention === false ? 'all' : 'mention',
    ...(found.stream === true && { stream: true }),
    ...Object.fromEntries(names.map((name) => [name, secretReference(type, name)])),
  };
  if (!keep(findings, findings.channels, what, channelCreateSchema, { key: type, type, agent, settings }))
    return;
  findings.remarks.push({
    what: `${what}: ${secretReference(type, names[1] ?? '')}`,
    why: `TempoClaw's channels are called by their service: ${NEW_SECRETS[type]}`,
  });
  if (Array.isArray(found.allowFrom) && found.allowFrom.length > 0)
    findings.remarks.push({
      what: `${what}: allow_from ${found.allowFrom.join(', ')}`,
      why: `say as whom each of them speaks: POST /v1/channels/${type}/pairings with person and user`,
    });
  if (groups === 'allowlist')
    findings.remarks.push({
      what: `${what}: groups by a list`,
      why: 'every group that the bot is in may speak',
    });
  remarkRest(findings, what, rest, CHANNEL_REASONS);
}
