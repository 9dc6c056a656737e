/**
 * Where a call may connect, from the settings, its tenant and its agent. Each layer can only narrow what the one before
 * permits.
 */
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
