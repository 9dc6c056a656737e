/**
 * Rules for a service that the operator has configured: agents' allowlists do not apply to it, but what is blocked for
 * all stays blocked.
 */
import type { UrlRules } from '@tempoclaw/egress/rules';
import type { EgressSettings } from '#domain/policy/effective-egress.ts';

/** `isOwn`: the address belongs to the operator and may be private. */
export function operatorRules(
  { url, isOwn }: { readonly url: string; readonly isOwn: boolean },
  { blockedDomains }: EgressSettings,
): UrlRules {
  return {
    internalHosts: isOwn ? [hostAndPort(url)] : [],
    domains: [{ blocked_domains: blockedDomains?.slice() }],
  };
}

function hostAndPort(address: string): string {
  const { protocol, hostname, port } = new URL(address);
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}
