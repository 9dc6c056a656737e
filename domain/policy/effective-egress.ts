/** SECURITY R5: where a call may go, from the settings, its tenant and its agent. Each can only narrow what the one before lets through. */
import type { DomainRules, UrlRules } from '@tempoclaw/egress/rules';

/** What the operator sets; only the operator can open private addresses. */
export interface EgressSettings {
  /** Hosts as `host:port`. */
  readonly allowPrivate?: readonly string[] | undefined;
  readonly allowedPorts?: readonly number[] | undefined;
  readonly policy?: DomainRules['policy'];
  readonly allowedDomains?: readonly string[] | undefined;
  readonly blockedDomains?: readonly string[] | undefined;
}

export function effectiveEgress(
  { allowPrivate, allowedPorts, policy, allowedDomains, blockedDomains }: EgressSettings = {},
  narrower: readonly (DomainRules | undefined)[] = [],
): UrlRules {
  const own = { policy, allowed_domains: allowedDomains, blocked_domains: blockedDomains };
  return { internalHosts: allowPrivate, allowedPorts, domains: [own, ...narrower] };
}
