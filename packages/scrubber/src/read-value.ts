/** Where a value starts and ends after `name=`, `name: `, `"name":"`, `name => ` and similar. */

export interface Value {
  readonly start: number;
  readonly end: number;
  readonly quoted: boolean;
  /** There is a blank between separator and value: prose or YAML rather than an environment file. */
  readonly spaced: boolean;
  /** The scheme of an `Authorization` header precedes it (RFC 9110 §11.1). */
  readonly scheme: boolean;
}

/** Longer values are cut by the next scan step; no legitimate value is longer on one line. */
const MAX_VALUE = 16_384;

/** Marks between a separator and a value: the end of bold type in Markdown and HTML, a type in YAML. */
const MARKS = String.raw`(?:\*{1,2}|__|</(?:b|strong|em|i)>)?`;
/** Group 1: blanks. After a quoted name and a colon they include line ends, as in JSON. */
const BLANKS = String.raw`((?<=["'][ \t]{0,4}:)\s{1,64}(?=["'])|[ \t\u00a0\u3000]{0,8})(?:!!str[ \t]{1,4})?`;
/** Group 2: a quote, which may be the first one of a list in JSON, or have the prefix of a language. */
const QUOTE = String.raw`(?:(?<=:[ \t]{0,8})\[\s{0,8}(?=\\{0,4}["'\x60]))?(?:[bBfFuU@]{1,2}(?=["']))?(\\{1,4}["'\x60]|"{3}|'{3}|["'\x60])?`;
/** Group 3: the scheme of a header. */
const SCHEME = String.raw`((?:bearer|basic|token|bot|api-?key|ssws|splunk|geniekey|oauth|negotiate)[ \t]{1,4})?`;
const OPENING = new RegExp(`[=:]?[=>]?${MARKS}${BLANKS}${QUOTE}${SCHEME}`, 'iy');
const BARE = /[^\s"'`<>,;&(){}\\]{1,16384}/y;
/** YAML's block: the value is the next line. */
const BLOCK = /[|>][+-]?[ \t]*\r?\n[ \t]{1,64}(?=\S)/y;

/** The value after the separator at `separator`; undefined when there is none. */
export function valueAfter(text: string, separator: number): Value | undefined {
  OPENING.lastIndex = separator + 1;
  const opening = OPENING.exec(text);
  if (!opening) return undefined;
  const [whole, blanks, quote, scheme] = opening;
  const value = valueAt(text, separator + 1 + whole.length, quote, (blanks ?? '') !== '');
  return value && { ...value, scheme: scheme !== undefined };
}

/** The value that starts at `start`, after `quote` when there is one. */
export function valueAt(
  text: string,
  start: number,
  quote: string | undefined,
  spaced: boolean,
): Value | undefined {
  if (quote !== undefined) {
    const end = closing(text, start, quote);
    return end === start ? undefined : { start, end, quoted: true, spaced, scheme: false };
  }
  BLOCK.lastIndex = start;
  const block = BLOCK.exec(text)?.[0].length ?? 0;
  const from = start + block;
  BARE.lastIndex = from;
  const bare = BARE.exec(text)?.[0];
  if (bare === undefined) return undefined;
  const end = from + bare.length;
  return {
    start: from,
    end: spaced ? end : pastPunctuation(text, from, end),
    quoted: false,
    spaced,
    scheme: false,
  };
}

const PUNCTUATED = /[^\s"'`<>(){}\\]{0,16384}/y;
const NEXT_PAIR = /[,;&]\s?["']?[\w.-]{1,64}["']?[=:]/;

/** In an environment file `,`, `;` and `&` belong to the value; between pairs (`a=1;b=2`) they separate them. */
function pastPunctuation(text: string, start: number, end: number): number {
  if (!/[,;&]/.test(text[end] ?? '')) return end;
  PUNCTUATED.lastIndex = start;
  const whole = PUNCTUATED.exec(text)?.[0] ?? '';
  const pair = NEXT_PAIR.exec(whole);
  const stop = start + (pair ? pair.index : whole.replace(/[,;&]+$/, '').length);
  return Math.max(end, stop);
}

function closing(text: string, start: number, quote: string): number {
  const limit = Math.min(text.length, start + MAX_VALUE);
  const mark = quote[quote.length - 1] as string;
  for (let at = start; at < limit; at++) {
    const char = text[at];
    if (char === '\n') return at;
    // Inside an escaped string (`{\"password\":\"…\"}`) the closing quote is escaped too.
    if (quote.startsWith('\\')) {
      if (char === '\\' && /^\\{1,4}["'`]/.test(text.slice(at, at + 5))) return at;
    } else if (char === '\\') at++;
    else if (char === mark) return at;
  }
  return limit;
}
