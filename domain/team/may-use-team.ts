/** Whether somebody may send work to a team; nobody may when its settings cannot be read. */
import { personOf } from '../person.ts';
import { teamSettingsSchema } from '../resource/teams.ts';
import type { TeamSettings } from './team.ts';

/** Work of the system itself or of another agent was admitted at its origin. */
const INNER_CHANNELS: ReadonlySet<string> = new Set(['system', 'delegate', 'teammate']);

/** Undefined when they may; otherwise the text of the refusal. Deny wins over allow; a user is denied under every spelling. */
export function teamAccessProblem(
  settings: unknown,
  { user, channel }: { readonly user?: string | null; readonly channel?: string | null },
): string | undefined {
  if (channel && INNER_CHANNELS.has(channel)) return undefined;
  if (!areTeamSettings(settings)) return 'the settings of this team cannot be read; nobody may use it';
  if (!isLetIn(user, settings.allow_user_ids, settings.deny_user_ids, personOf))
    return 'user not authorized for this team';
  if (!isLetIn(channel, settings.allow_channels, settings.deny_channels))
    return `channel "${channel ?? ''}" not authorized for this team`;
  return undefined;
}

/** A list of permitted users admits nobody who is unknown. */
function isLetIn(
  who: string | null | undefined,
  allow: readonly string[] | undefined,
  deny: readonly string[] | undefined,
  spelled: (name: string) => string = (name) => name,
): boolean {
  if (who && deny?.some((name) => spelled(name) === spelled(who))) return false;
  return !allow || allow.length === 0 || (typeof who === 'string' && allow.includes(who));
}

export function areTeamSettings(value: unknown): value is TeamSettings {
  return teamSettingsSchema.safeParse(value).success;
}
