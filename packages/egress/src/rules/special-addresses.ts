/**
 * What an address is used for: the IANA special-purpose registries, and the addresses at which clouds return
 * credentials. An IPv6 address that contains an IPv4 address is judged by that one.
 */
import { type Address, isWithin, parseAddress, type Prefix, prefixOf, v4Address } from './parse-address.ts';

export type AddressUse =
  | 'public'
  | 'metadata'
  | 'loopback'
  | 'private'
  | 'link_local'
  | 'multicast'
  /** Not assigned, reserved for documentation or tests, or a transition mechanism that leads anywhere. */
  | 'reserved';

type Table = readonly (readonly [use: AddressUse, prefixes: readonly Prefix[]])[];

/** Builds a table from prefixes separated by blanks. */
function table(rows: readonly (readonly [use: AddressUse, cidrs: string])[]): Table {
  return rows.map(([use, cidrs]) => [use, cidrs.split(' ').map(prefixOf)] as const);
}

/** The first row that contains the address decides. */
const V4 = table([
  // AWS, GCP, Azure and others; ECS tasks; Alibaba; Oracle; Azure's wire server, which is not in a special range.
  ['metadata', '169.254.169.254/32 169.254.170.0/24 100.100.100.200/32 192.0.0.192/32 168.63.129.16/32'],
  ['loopback', '127.0.0.0/8'],
  ['private', '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10'],
  ['link_local', '169.254.0.0/16'],
  ['multicast', '224.0.0.0/4'],
  [
    'reserved',
    '0.0.0.0/8 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4',
  ],
]);

const V6 = table([
  ['metadata', 'fd00:ec2::254/128 fd20:ce::254/128'],
  ['loopback', '::1/128'],
  ['private', 'fc00::/7 fec0::/10'],
  ['link_local', 'fe80::/10'],
  ['multicast', 'ff00::/8'],
  // 6to4, Teredo and the local NAT64 prefix lead to addresses that nobody judged.
  ['reserved', '2001::/23 2001:db8::/32 2002::/16 3fff::/20 64:ff9b:1::/48'],
]);

/** Only this part of IPv6 is assigned to the public internet (RFC 4291). */
const GLOBAL = prefixOf('2000::/3');
const MAPPED = prefixOf('::ffff:0:0/96');
const NAT64 = prefixOf('64:ff9b::/96');
/** Interface ids of ISATAP (RFC 5214): 0000:5efe or 0200:5efe before the IPv4 address. */
const ISATAP = [0x5e, 0xfe];

/** The use of an address in text form; `reserved` when the text is not an address. */
export function useOf(text: string): AddressUse {
  const address = parseAddress(text);
  return address ? addressUse(address) : 'reserved';
}

export function addressUse(address: Address): AddressUse {
  const { version, bytes } = address;
  if (version === 4) return inTable(V4, bytes) ?? 'public';
  const last = v4Address(bytes.slice(12));
  if (isWithin(bytes, MAPPED) || isWithin(bytes, NAT64)) return addressUse(last);
  const listed = inTable(V6, bytes);
  if (listed !== undefined) return listed;
  if (!isWithin(bytes, GLOBAL)) return 'reserved';
  const isIsatap =
    (bytes[8] === 0 || bytes[8] === 2) &&
    bytes[9] === 0 &&
    ISATAP.every((byte, at) => bytes[10 + at] === byte);
  return isIsatap ? addressUse(last) : 'public';
}

function inTable(rows: Table, bytes: readonly number[]): AddressUse | undefined {
  return rows.find(([, prefixes]) => prefixes.some((prefix) => isWithin(bytes, prefix)))?.[0];
}
