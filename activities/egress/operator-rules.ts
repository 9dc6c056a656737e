/** Where a service that the operator has named may be asked: lists of where agents may go are not about it, what is blocked for all is. */
import type { UrlRules } from '@tempoclaw/egress/rules';
import type { EgressSettings } from '#domain/policy/effective-egress.ts';

/** `isOwn`: at an address of the operator's own, which may be a private one. */
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
