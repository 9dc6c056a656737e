/** Addresses that a call or a text names, in one spelling, so that those a user wrote are known again. */

/** Characters of an address, and addresses of a text, that are looked at. */
const MOST_CHARACTERS = 8_192;
const MOST_ADDRESSES = 500;
/** Levels of lists and objects among a call's arguments. */
const MOST_DEPTH = 8;

const BETWEEN_WORDS = /[\s<>"'`|\\^{}[\]()\u201c\u201d\u201e\u00ab\u00bb]+/;
const HOST = /^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.[\p{L}-][\p{L}\p{N}-]+(?=[/?:#]|$)/u;

/** Of the web only; without the fragment, which is not sent. What has a user name or password is nobody's plain address. */
function addressOf(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  const signedIn = url.username === '' && url.password === '' ? '' : `${url.username}:${url.password}@`;
  return `${signedIn}${url.host}${url.pathname.replace(/\/+$/, '')}${url.search}`;
}

/** In the words of a person: with or without `https://`. */
export function addressesIn(text: string): readonly string[] {
  const found = new Set<string>();
  for (const word of text.split(BETWEEN_WORDS)) {
    if (found.size >= MOST_ADDRESSES) break;
    if (!word.includes('.') || word.length > MOST_CHARACTERS) continue;
    const plain = word.slice(Math.max(0, word.search(/https?:\/\//i))).replace(/[.,;:!?*_~]{1,20}$/, '');
    const address = addressOf(HOST.test(plain) ? `https://${plain}` : plain);
    if (address !== undefined) found.add(address);
  }
  return [...found];
}

/** In the arguments of a call: texts that are one as a whole, and those that stand in a text. */
export function addressesOf(args: unknown, depth = 0): readonly string[] {
  if (typeof args === 'string') {
    const whole = addressOf(args);
    if (whole !== undefined) return [whole];
    return /https?:/i.test(args) ? addressesIn(args) : [];
  }
  if (typeof args !== 'object' || args === null || depth > MOST_DEPTH) return [];
  return Object.values(args).flatMap((value) => addressesOf(value, depth + 1));
}
