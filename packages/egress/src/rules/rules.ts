/** The rules for addresses: pure functions without I/O. */
export {
  type DomainRules,
  judgeAddresses,
  judgeUrl,
  MAX_REDIRECTS,
  type UrlAllowed,
  type UrlDenied,
  type UrlRule,
  type UrlRules,
  type UrlVerdict,
} from './judge-url.ts';
export { type Address, parseAddress } from './parse-address.ts';
export { type AddressUse, addressUse, useOf } from './special-addresses.ts';
