/** Addresses in a call or a text, in one spelling, so that those that a user wrote are recognized. */

/** Greatest number of characters of an address, and of addresses in a person's text. */
const MAX_CHARACTERS = 8_192;
const MAX_ADDRESSES = 500;
/** Greatest depth of lists and objects in a call's arguments. */
const MAX_DEPTH = 20;
/** Greatest number of values in a call's arguments, and of words in one text. */
const MAX_VALUES = 10_000;

const BETWEEN_WORDS = /[\s<>"'`|\\^{}[\]()\u201c\u201d\u201e\u00ab\u00bb]+/;
const NAME = '[\\p{L}\\p{N}_-]+(?:\\.[\\p{L}\\p{N}_-]+)*\\.[\\p{L}-][\\p{L}\\p{N}-]+';
const HOST = new RegExp(`^${NAME}(?=[/?:#]|$)`, 'u');
const NUMBERED = '(?:localhost|\\[[\\da-f:.]+\\]|\\d{1,3}(?:\\.\\d{1,3}){3}|0x[\\da-f]{8})';
/**
 * A host without a scheme, with a path, query, port or fragment. It may start within a word, but not within a name or
 * after a sign of one.
 */
const PLACE = new RegExp(
  `(?<![\\p{L}\\p{N}_.@-])(?:[^\\s@/]{1,100}@)?(?:${NAME}|${NUMBERED})(?=[/\\\\?:#])`,
  'iu',
);
/** A name that says more than the bare domain: which part of it. `www.` alone says nothing. */
const BELOW = new RegExp(
  `^(?:(?!www\\.[^.]+\\.[^.]+$)(?:[\\p{L}\\p{N}_-]+\\.){2,}[\\p{L}-][\\p{L}\\p{N}-]+\\.?|${NUMBERED})$`,
  'iu',
);
const SCHEME = /^[a-z][a-z\d+.-]*:[/\\]{2}/i;
/** Arguments that go to the same place with an address. */
const WITH_ADDRESS =
  /^(?:headers?|params?|query|queryparams|search|body|data|payload|form|json|cookies?|path|pathname|route|fragment|hash|port|user|username|password|auth|token)$/i;
/** Arguments that name a host, whatever the value looks like. */
const NAMES_HOST = /^(?:host|hostname|domain|server|origin|endpoint|baseurl|authority)$/i;

/** Removes the fragment, which is not sent when an address is fetched. */
export function withoutFragment(address: string): string {
  return address.split('#', 1)[0] ?? address;
}

/**
 * Undefined for text that names no place on a network. An address with a user name or password is not a plain address.
 */
function addressOf(text: string): string | undefined {
  const trimmed = text.trim();
  const written = /^[/\\]{2}[^/\\]/.test(trimmed) ? `https:${trimmed}` : trimmed;
  const url = URL.parse(written);
  // Another program may understand what this parser cannot.
  if (!url) return SCHEME.test(written) ? written.slice(0, MAX_CHARACTERS) : undefined;
  if (url.host === '') return undefined;
  const scheme = /^https?:$/.test(url.protocol) ? '' : `${url.protocol}//`;
  const signedIn = url.username === '' && url.password === '' ? '' : `${url.username}:${url.password}@`;
  return `${scheme}${signedIn}${url.host}${url.pathname.replace(/\/$/, '')}${url.search}${url.hash}`;
}

/** Addresses in a person's text, with or without `https://`. */
export function addressesIn(text: string): readonly string[] {
  const found = new Set<string>();
  for (const word of text.split(BETWEEN_WORDS)) {
    if (found.size >= MAX_ADDRESSES) break;
    if (!word.includes('.') || word.length > MAX_CHARACTERS) continue;
    const plain = word.slice(Math.max(0, word.search(/[a-z]+:\/\//i))).replace(/[.,;:!?*_~]{1,20}$/, '');
    const address = addressOf(HOST.test(plain) ? `https://${plain}` : plain);
    if (address !== undefined) found.add(address).add(withoutFragment(address));
  }
  return [...found];
}

/** Stands for arguments that are too many to check; it never counts as known. */
const TOO_MUCH = 'more than is looked at';

/**
 * Addresses in the arguments of a call: texts that are addresses as a whole, and addresses within a text. Data that
 * goes to the same place, such as headers, is part of the address.
 */
export function addressesOf(args: unknown): readonly string[] {
  let remaining = MAX_VALUES;
  const inside = (value: unknown, depth: number): readonly string[] => {
    remaining -= 1;
    if (remaining < 0 || depth > MAX_DEPTH) return [TOO_MUCH];
    if (typeof value === 'string') return inText(value);
    if (typeof value !== 'object' || value === null) return [];
    if (Array.isArray(value)) return value.flatMap((each) => inside(each, depth + 1));
    const entries = Object.entries(value);
    const found = entries.flatMap(([name, each]) => [
      ...inText(name),
      ...(NAMES_HOST.test(bare(name)) && typeof each === 'string' ? asHost(each) : inside(each, depth + 1)),
    ]);
    const more = entries.filter(([name, each]) => WITH_ADDRESS.test(bare(name)) && !isEmpty(each));
    const [first] = found;
    return first === undefined || more.length === 0 ? found : [...found, `${first} ${JSON.stringify(more)}`];
  };
  return inside(args, 0);
}

function bare(name: string): string {
  return name.replace(/[_-]/g, '');
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null)
    return value === undefined || value === null || value === '';
  return Object.keys(value).length === 0;
}

function asHost(text: string): readonly string[] {
  const address = addressOf(SCHEME.test(text) ? text : `https://${text}`);
  return [address ?? text.slice(0, MAX_CHARACTERS)];
}

/** Splits at white space only, because other programs treat everything else as part of an address. */
function inText(text: string): readonly string[] {
  const whole = placeOf(text.trim());
  if (whole !== undefined) return [whole];
  if (!/[.:]/.test(text)) return [];
  const words = text.split(/\s+/, MAX_VALUES + 1);
  if (words.length > MAX_VALUES) return [TOO_MUCH];
  return words.flatMap((word) => placeOf(word) ?? placeWithin(word) ?? []);
}

function placeOf(text: string): string | undefined {
  if (SCHEME.test(text) || /^https?:/i.test(text) || /^[/\\]{2}[^/\\]/.test(text)) return addressOf(text);
  if (text.length > MAX_CHARACTERS) return text.includes('.') ? TOO_MUCH : undefined;
  if (PLACE.exec(text)?.index !== 0 && !BELOW.test(text)) return undefined;
  return addressOf(`https://${text}`) ?? text;
}

/** Finds the address in words such as `(https://…` or `site:x.example/a`. */
function placeWithin(word: string): string | undefined {
  const scheme = word.search(/[a-z][a-z\d+.-]{0,30}:[/\\]{2}/i);
  const start = scheme >= 0 ? scheme : PLACE.exec(word)?.index;
  return start === undefined ? undefined : placeOf(word.slice(start));
}
