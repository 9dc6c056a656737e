/** Host names that never belong to the public internet, whatever a resolver returns for them. */
import { matchHost } from './match-host.ts';
import { parseAddress } from './parse-address.ts';

/** Names under which clouds return credentials. */
const METADATA: ReadonlySet<string> = new Set(
  (
    'metadata metadata.google.internal metadata.goog metadata.azure.internal metadata.tencentyun.com ' +
    'metadata.platformequinix.com metadata.packet.net instance-data instance-data.ec2.internal'
  ).split(' '),
);

/** RFC 6761, 6762, 8375, and common names of private networks. */
const LOCAL_SUFFIXES = (
  'localhost localdomain local internal intranet private corp home lan svc home.arpa cluster.local ' +
  'onion invalid'
).split(' ');

export function isMetadataName(host: string): boolean {
  return METADATA.has(host);
}

/** A single label (`temporal`, `localhost`) is a machine in the operator's network. */
export function isLocalName(host: string): boolean {
  return !host.includes('.') || LOCAL_SUFFIXES.some((suffix) => host.endsWith(`.${suffix}`));
}

/**
 * Services that return the address that the name contains: `10.0.0.1.nip.io`, `app-10-0-0-1.sslip.io`,
 * `7f000001.nip.io`, `fd00--1.sslip.io`.
 */
const SPELLED = /(?:^|[.-])(\d{1,3})([.-])(\d{1,3})\2(\d{1,3})\2(\d{1,3})\.(?:nip|sslip|xip)\.io$/;
const SPELLED_HEX = /(?:^|[.-])([0-9a-f]{8})\.nip\.io$/;
const SPELLED_V6 = /(?:^|\.)([0-9a-f-]{2,39})\.sslip\.io$/;

/** The address that a name contains, so that it is judged without a resolver. */
export function spelledAddress(host: string): string | undefined {
  const found = SPELLED.exec(host);
  if (found) return [found[1], found[3], found[4], found[5]].join('.');
  const hex = SPELLED_HEX.exec(host)?.[1];
  if (hex !== undefined)
    return hex.replace(/..(?=.)/g, '$&.').replace(/[0-9a-f]+/g, (byte) => `${Number.parseInt(byte, 16)}`);
  const v6 = SPELLED_V6.exec(host)?.[1]?.replaceAll('-', ':');
  return v6 !== undefined && parseAddress(v6) ? v6 : undefined;
}

/** `github.com` matches that host, `*.example.com` those below it. */
export function isListedDomain(host: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matchHost(canonicalPattern(pattern), host));
}

/** A blocked name also blocks the names below it. */
export function isBlockedDomain(host: string, patterns: readonly string[]): boolean {
  return patterns.some((value) => {
    const pattern = canonicalPattern(value).replace(/^\*\./, '');
    return matchHost(pattern, host) || matchHost(`*.${pattern}`, host);
  });
}

/**
 * A pattern in the form that hosts of URLs have: lower case, no last dot, `xn--…` for letters outside of ASCII, and the
 * shortest spelling of an IPv6 address.
 */
function canonicalPattern(value: string): string {
  const pattern = value.trim().toLowerCase().replace(/\.$/, '');
  const address = pattern.includes(':') ? parseAddress(pattern.replace(/^\[(.*)\]$/, '$1')) : undefined;
  return address?.text ?? canonicalName(pattern);
}

function canonicalName(pattern: string): string {
  return /^[\0-\x7f]*$/.test(pattern)
    ? pattern
    : pattern
        .split(/[.\u3002\uff0e\uff61]/)
        .map(canonicalLabel)
        .join('.');
}

/** A label with a wildcard has no `xn--` form, so it stays. */
function canonicalLabel(label: string): string {
  const url = `http://${label}/`;
  return !/[*?/:@#]/.test(label) && URL.canParse(url) ? new URL(url).hostname : label;
}
