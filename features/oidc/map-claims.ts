/** What the claims of a checked token mean here: the tenant, the user, the scopes and the groups of its person. */
import { type Fields, isRecord, isText } from '#domain/outside-value.ts';
import { isName, MAX_TENANT } from '#domain/ids.ts';
import type { Scope } from '#domain/schema/api-key.ts';
import { OPERATOR_TENANT } from '#domain/tenant.ts';
import type { IssuerSettings } from './settings.ts';

export interface Person {
  readonly tenant: string;
  readonly user: string;
  readonly scopes: readonly Scope[];
  readonly groups: readonly string[];
}

const MAX_TEXT = 200;
const MAX_GROUPS = 200;

/** Names of other senders in audits, and of groups among approvers. */
const RESERVED = /^(?:key:|group:|oidc:|system$)/i;

/** Returns the person; or, as text, why the claims mean nobody. */
export function mapClaims(
  claims: Fields,
  { rules, user: userClaim, groups: groupsClaim }: Pick<IssuerSettings, 'rules' | 'user' | 'groups'>,
): Person | string {
  const rule = rules.find(({ when = {} }) =>
    Object.entries(when).every(([name, value]) => textsAt(claims, name).includes(String(value))),
  );
  if (!rule) return 'no rule of its issuer applies to its claims';
  const tenant = rule.tenant ?? claimedTenant(textsAt(claims, rule.tenantClaim ?? ''));
  if (tenant === undefined) return `its claim ${rule.tenantClaim} names no tenant that it may name`;
  const [user, ...others] = textsAt(claims, userClaim);
  if (user === undefined || others.length > 0) return `its claim ${userClaim} names no user`;
  if (!isText(user, MAX_TEXT) || user.trim() !== user || RESERVED.test(user))
    return `its claim ${userClaim} is not a name that a user may have`;
  const groups = [...new Set(textsAt(claims, groupsClaim))];
  if (groups.length > MAX_GROUPS || !groups.every((group) => isText(group, MAX_TEXT)))
    return `its claim ${groupsClaim} has more than ${MAX_GROUPS} groups, or a longer name than ${MAX_TEXT} characters`;
  return { tenant, user, scopes: rule.scopes, groups };
}

/** The operator's tenant can only be named by the operator's own settings. */
function claimedTenant(texts: readonly string[]): string | undefined {
  const [tenant] = texts;
  const isOne = texts.length === 1 && tenant !== undefined && isName(tenant) && tenant.length <= MAX_TENANT;
  return isOne && tenant !== OPERATOR_TENANT ? tenant : undefined;
}

/** The texts of a claim, which may be a list. Empty when it is absent or has another form. */
function textsAt(claims: Fields, name: string): readonly string[] {
  // Whoever can enter any address at a provider would otherwise be its owner here.
  if (name === 'email' && !textsAt(claims, 'email_verified').includes('true')) return [];
  const value = claimAt(claims, name);
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.flatMap((one) => {
    if (typeof one === 'string') return one === '' ? [] : [one];
    return typeof one === 'boolean' || typeof one === 'number' ? [String(one)] : [];
  });
}

/** Names with dots are also names: `https://example.com/groups`. */
function claimAt(claims: Fields, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (!isRecord(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}
