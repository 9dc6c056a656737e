/**
 * Whether a request may go to a web address, before a connection is made. Names are judged twice: by name here, and by
 * all addresses of a resolver in `judgeAddresses`. The judged address is the one to dial: code that resolves again may
 * dial an address that nobody judged (DNS rebinding). Each redirect is judged like the first address.
 */
import { isWebPort } from './judge-port.ts';
import { parseAddress } from './parse-address.ts';
import { type AddressUse, useOf } from './special-addresses.ts';
import {
  isBlockedDomain,
  isListedDomain,
  isLocalName,
  isMetadataName,
  spelledAddress,
} from './special-names.ts';

/** Which hosts are permitted, with field names as in JSON settings. */
export interface DomainRules {
  readonly policy?: 'allow_all' | 'allowlist' | undefined;
  /** Hosts of an allowlist: `github.com`, `*.example.com`. */
  readonly allowed_domains?: readonly string[] | undefined;
  /** Hosts that are blocked with all names below them, under either policy. */
  readonly blocked_domains?: readonly string[] | undefined;
}

export interface UrlRules {
  /** Each of them must permit a host. */
  readonly domains?: readonly (DomainRules | undefined)[] | undefined;
  /**
   * Services in the operator's network that are permitted: hosts, `*.example.com`, or `host:port` for one port; never
   * metadata services.
   */
  readonly internalHosts?: readonly string[] | undefined;
  /** Permits private and loopback addresses; metadata, link-local and reserved ones never. */
  readonly allowPrivate?: boolean | undefined;
  /** Ports besides those of the web. */
  readonly allowedPorts?: readonly number[] | undefined;
}

/** The part of the rules that decided. */
export type UrlRule =
  | 'public'
  | 'internal_host'
  | 'private_allowed'
  | 'malformed'
  | 'scheme'
  | 'userinfo'
  | 'blocked_domain'
  | 'not_listed'
  | 'local_name'
  | 'port'
  | 'unresolved'
  | Exclude<AddressUse, 'public'>;

export interface UrlDenied {
  readonly decision: 'deny';
  readonly rule: UrlRule;
  /** One sentence, for people and for language models. */
  readonly reason: string;
  /** The address that is the reason. */
  readonly address?: string;
}

export interface UrlAllowed {
  readonly decision: 'allow';
  readonly rule: UrlRule;
  readonly reason: string;
  /** The canonical URL to request; it contains the Host. */
  readonly url: string;
  /** The host in lower case, without a trailing dot or brackets. */
  readonly host: string;
  readonly port: number;
  /** The address to dial. Absent for a name whose addresses are not judged yet. */
  readonly address?: string;
}

export type UrlVerdict = UrlAllowed | UrlDenied;

/** Bytes; no real address is longer. */
const MAX_URL = 8192;
/** Greatest number of redirects; each is judged again. */
export const MAX_REDIRECTS = 3;

const NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

/** Judges the text of an address without calling a resolver. Never throws. */
export function judgeUrl(text: string, rules: UrlRules = {}): UrlVerdict {
  const read = readUrl(text);
  if ('decision' in read) return read;
  const { url, host } = read;
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const place = { url: url.href, host, port };
  const literal = parseAddress(host);
  if (literal === undefined && !NAME.test(host)) return malformed('its host is no host name');
  const listed = judgeLists(host, rules);
  if (listed) return listed;
  const isInternal = isInternalPlace(place, rules);
  if (!isInternal && !isWebPort(port, rules.allowedPorts))
    return denied('port', `port ${port} belongs to another service than the web`);
  if (literal)
    return judgeAddresses({ ...place, decision: 'allow', rule: 'public', reason: '' }, [host], rules);
  if (isInternal)
    return { decision: 'allow', rule: 'internal_host', reason: `${host} is set as internal host`, ...place };
  return judgeName(
    { ...place, decision: 'allow', rule: 'public', reason: `${host} is a public name` },
    rules,
  );
}

function judgeName(named: UrlAllowed, rules: UrlRules): UrlVerdict {
  const { host } = named;
  if (isLocalName(host) && rules.allowPrivate !== true)
    return denied('local_name', `${host} names a machine of the local net`);
  const spelled = spelledAddress(host);
  if (spelled === undefined) return named;
  const verdict = judgeAddresses(named, [spelled], rules);
  return verdict.decision === 'deny' ? verdict : named;
}

/**
 * Judges what a name resolved to: each address must pass, because any of them may be dialled. The result contains the
 * first.
 */
export function judgeAddresses(
  target: UrlAllowed,
  addresses: readonly string[],
  rules: UrlRules = {},
): UrlVerdict {
  const [first] = addresses;
  if (first === undefined) return denied('unresolved', `${target.host} does not resolve to an address`);
  const isInternal = isInternalPlace(target, rules);
  for (const address of addresses) {
    const use = useOf(address);
    const isOwn = use === 'private' || use === 'loopback';
    if (use === 'public' || (isOwn && (isInternal || rules.allowPrivate === true))) continue;
    const whose = address === target.host ? address : `${target.host} resolves to ${address}, which`;
    return { ...denied(use, `${whose} is ${USES[use]}`), address };
  }
  const rule = isInternal ? 'internal_host' : useOf(first) === 'public' ? 'public' : 'private_allowed';
  const reason = rule === 'public' ? `${first} is a public address` : `${first} is allowed by the settings`;
  return { ...target, rule, reason, address: first };
}

const USES: Readonly<Record<Exclude<AddressUse, 'public'>, string>> = {
  metadata: 'where clouds give out credentials',
  loopback: 'this machine itself',
  private: 'an address of a private net',
  link_local: 'a link-local address',
  multicast: 'a multicast address',
  reserved: 'a reserved address',
};

function readUrl(text: string): { readonly url: URL; readonly host: string } | UrlDenied {
  if (text.length > MAX_URL) return malformed(`it is longer than ${MAX_URL} characters`);
  // Parsers disagree on all of these, and the parser of the client that dials may differ from this one.
  if (/[\u0000-\u0020\u007f-\u00a0\\]/.test(text))
    return malformed('it has spaces, control characters or backslashes');
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return malformed('it has no scheme; write https://…');
  if (scheme !== 'http' && scheme !== 'https')
    return denied('scheme', `${scheme.slice(0, 20)}: is not http or https`);
  if (!/^https?:\/\/[^/?#]/i.test(text)) return malformed('it has no host after //');
  if (!URL.canParse(text)) return malformed('it cannot be read');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || /^[^/?#]*@/.test(text.slice(text.indexOf('//') + 2)))
    return denied('userinfo', 'it has a user name before the host, which hides the host from readers');
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return { url, host };
}

function judgeLists(host: string, { domains = [] }: UrlRules): UrlDenied | undefined {
  if (isMetadataName(host)) return denied('metadata', `${host} is ${USES.metadata}`);
  if (domains.some((rules) => isBlockedDomain(host, rules?.blocked_domains ?? [])))
    return denied('blocked_domain', `${host} is on the list of blocked domains`);
  if (
    domains.some(
      (rules) => rules?.policy === 'allowlist' && !isListedDomain(host, rules.allowed_domains ?? []),
    )
  )
    return denied('not_listed', `${host} is not on the list of allowed domains`);
  return undefined;
}

/** An IPv6 address with a port is written as in a URL, `[::1]:8080`. */
function isInternalPlace({ host, port }: Pick<UrlAllowed, 'host' | 'port'>, rules: UrlRules): boolean {
  const { internalHosts = [] } = rules;
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return (
    isListedDomain(host, internalHosts) || internalHosts.some((listed) => listed.toLowerCase() === place)
  );
}

function denied(rule: UrlRule, reason: string): UrlDenied {
  return { decision: 'deny', rule, reason };
}

function malformed(why: string): UrlDenied {
  return denied('malformed', `the address is refused: ${why}`);
}
