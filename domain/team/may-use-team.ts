/** Whether somebody may bring work to a team; no, when its settings cannot be understood. */
import { teamSettingsSchema } from '../resource/teams.ts';
import type { TeamSettings } from '../team.ts';

/** Work that the system itself or another agent brings was let in where it came from. */
const INNER_CHANNELS: ReadonlySet<string> = new Set(['system', 'delegate', 'teammate']);

/** Undefined when they may; else the words that refuse. A denial wins over an allowance. */
export function teamAccessProblem(
  settings: unknown,
  { user, channel }: { readonly user?: string | null; readonly channel?: string | null },
): string | undefined {
  if (channel && INNER_CHANNELS.has(channel)) return undefined;
  if (!areTeamSettings(settings)) return 'the settings of this team cannot be read; nobody may use it';
  if (!isLetIn(user, settings.allow_user_ids, settings.deny_user_ids))
    return 'user not authorized for this team';
  if (!isLetIn(channel, settings.allow_channels, settings.deny_channels))
    return `channel "${channel ?? ''}" not authorized for this team`;
  return undefined;
}

/** A list to be on admits nobody who is not known. */
function isLetIn(
  who: string | null | undefined,
  allow: readonly string[] | undefined,
  deny: readonly string[] | undefined,
): boolean {
  if (who && deny?.includes(who)) return false;
  return !allow || allow.length === 0 || (typeof who === 'string' && allow.includes(who));
}

export function areTeamSettings(value: unknown): value is TeamSettings {
  return teamSettingsSchema.safeParse(value).success;
}
