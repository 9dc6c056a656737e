/** Whose work may go over a link (DE-1). Settings that cannot be read refuse: a link whose settings are broken is no open door. */
import type { AgentLink } from './agent-link.ts';
import { linkSettingsSchema } from './resource/agent-links.ts';

/** On whose behalf the agent acts. */
export interface LinkUser {
  readonly user: string | null;
  readonly roles: readonly string[];
}

/**
 * Undefined when the user may use the link; else why not, in words for a model. Deny wins over allow; an allow list that is there lets
 * nobody else through, an empty one nobody at all.
 */
export function refuseUser(link: AgentLink, to: string, { user, roles }: LinkUser): string | undefined {
  const { data: settings } = linkSettingsSchema.safeParse(link.settings ?? {});
  if (settings === undefined)
    return `the settings of the delegation link to "${to}" cannot be read, so nobody may use it until they are put right`;
  const { user_allow: allow, user_deny: deny, require_role: role } = settings;
  const isDenied = user !== null && (deny ?? []).includes(user);
  const isMissing = allow !== undefined && (user === null || !allow.includes(user));
  // Where there is a list, whose turn it is matters: nobody knows whether a nameless caller is one of those who are denied.
  const isUnknown = user === null && deny !== undefined;
  if (isDenied || isMissing || isUnknown || (role !== undefined && !roles.includes(role)))
    return 'you are not authorized to use this delegation link';
  return undefined;
}
