/**
 * Whose work may go over a link (DE-1). A link whose settings cannot be read refuses everybody, so that broken settings
 * do not open it.
 */
import type { AgentLink } from './assignment/agent-link.ts';
import { personOf } from './person.ts';
import { linkSettingsSchema } from './resource/agent-links.ts';

/** The user on whose behalf the agent acts. */
export interface LinkUser {
  readonly user: string | null;
  readonly roles: readonly string[];
}

/**
 * Undefined when the user may use the link; otherwise the reason, for a model. Deny wins over allow. An allow list
 * refuses everybody who is not in it; an empty one refuses everybody.
 */
export function refuseUser(link: AgentLink, to: string, { user, roles }: LinkUser): string | undefined {
  const { data: settings } = linkSettingsSchema.safeParse(link.settings ?? {});
  if (settings === undefined)
    return `the settings of the delegation link to "${to}" cannot be read, so nobody may use it until they are put right`;
  const { user_allow: allow, user_deny: deny, require_role: role } = settings;
  const isDenied = user !== null && (deny ?? []).some((name) => personOf(name) === personOf(user));
  const isMissing = allow !== undefined && (user === null || !allow.includes(user));
  // With a deny list the user must be known: a caller without a name could be one of those who are denied.
  const isUnknown = user === null && deny !== undefined && deny.length > 0;
  if (isDenied || isMissing || isUnknown || (role !== undefined && !roles.includes(role)))
    return 'you are not authorized to use this delegation link';
  return undefined;
}
