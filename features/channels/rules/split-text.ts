/**
 * Splits long Markdown into messages that a chat service accepts, each of them complete by itself. It cuts between
 * paragraphs, else lines, else words. It does not cut within links, code and emphasis if these fit into a message. A
 * code block that continues is closed and opened again.
 */

interface Fence {
  readonly mark: string;
  readonly info: string;
  /** Spaces before it, as within a list. */
  readonly indent: number;
  /** Where its line begins. */
  readonly start: number;
  /** Where its first line of code begins. */
  readonly inside: number;
}

/**
 * Parts of `text` in order, none of them empty. `measure` is the length of a part as it is sent, such as with its
 * escapes. A part is longer than `limit` only if a single character is.
 */
export function splitText(
  text: string,
  limit: number,
  measure: (part: string) => number = (part) => part.length,
): string[] {
  const fits = (part: string): boolean => part.length <= limit && measure(part) <= limit;
  const parts: string[] = [];
  let rest = text.replaceAll('\r\n', '\n').trimEnd();
  let opening = '';
  while (rest !== '') {
    const whole = opening + rest;
    const end = fits(close(whole)) ? whole.length : cutOf(whole, limit, opening.length, fits);
    parts.push(close(whole.slice(0, end)));
    ({ opening, rest } = goOn(whole, end));
  }
  return parts.filter((part) => part.trim() !== '');
}

/** Where the next part ends, which is after the reopened text, so that each part has some new text. */
function cutOf(whole: string, limit: number, opened: number, fits: (part: string) => boolean): number {
  for (let max = Math.min(limit, whole.length); ; ) {
    const end = bestBreak(whole, opened, Math.max(max, opened + 1));
    if (max <= opened + 1 || fits(close(whole.slice(0, end)))) return end;
    max = Math.floor(opened + (Math.min(end, max) - opened) * 0.9);
  }
}

/**
 * The minimum end: an earlier one would leave a part half empty. Lines that end after the limit are left for the next
 * part.
 */
function bestBreak(whole: string, opened: number, limit: number): number {
  const min = opened + Math.floor((limit - opened) / 2);
  const fence = openFence(whole.slice(0, limit));
  const start = fence?.inside ?? 0;
  const isBroken = brokenBy(whole, fence ? fence.start : limit);
  const last = (pattern: RegExp, from: number): number | undefined =>
    [...whole.slice(0, limit + 1).matchAll(pattern)]
      .map(({ index, 0: found }) => index + found.length)
      .findLast((at) => at >= from && at > opened && at <= limit && !isBroken(at));
  const outside = fence && fence.start > opened ? fence.start : undefined;
  // A block of code that would be cut at its beginning goes to the next part whole.
  if (outside !== undefined && outside >= min) return outside;
  return (
    (fence ? undefined : last(/\n[ \t]*\n/g, min)) ??
    last(/\n/g, Math.max(min, start + 1)) ??
    last(/[ \t]+/g, Math.max(min, start + 1)) ??
    outside ??
    last(/\s/g, start + 1) ??
    wholeCharacter(whole, opened, limit, isBroken)
  );
}

/** The last place between two characters: outside what should stay together, else outside a mark, else anywhere. */
function wholeCharacter(
  whole: string,
  opened: number,
  max: number,
  isBroken: (at: number) => boolean,
): number {
  const breaks = [
    (at: number) => isBroken(at) || isJoined(whole, at),
    (at: number) => isWithinMark(whole, at) || isJoined(whole, at),
    (at: number) => isWithinPair(whole, at),
  ];
  for (const isWithin of breaks) for (let at = max; at > opened; at -= 1) if (!isWithin(at)) return at;
  return opened + 2;
}

function isWithinPair(text: string, at: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(at - 1, at + 1));
}

/** Whether the character combines or joins with the one before. */
function isJoined(text: string, at: number): boolean {
  return (
    isWithinPair(text, at) || text[at - 1] === '\u200d' || /^(?:\p{M}|\u200d)/u.test(text.slice(at, at + 2))
  );
}

function isWithinMark(text: string, at: number): boolean {
  return /^(?:([*_~`|])\1|\\.|\]\()$/.test(text.slice(at - 1, at + 1)) || MARK.test(around(text, at));
}

/** The text around the place, with a sign at it. */
function around(text: string, at: number): string {
  return `${text.slice(Math.max(0, at - 100), at)}\0${text.slice(at, at + 100)}`;
}

/** Matches a tag or an entity that contains the sign. */
const MARK = /<[/!]?\w?[^<>\n]*\0[^<>\n]*>|&#?\w*\0\w*;/;

/**
 * Matches what belongs together: code, links, addresses, tags, entities, escapes, emphasis. All are within a line, so
 * that each is matched once.
 */
const SPANS =
  /(`+)[^`\n]+\1|!?\[[^[\]\n]{0,500}\]\([^()\s]{0,2000}\)|https?:\/\/[^\s<>]{1,2000}|<[^<>\n]{1,2000}>|&#?\w{1,32};|\\.|(\*{1,3}|_{1,3}|~~)(?=\S)[^*_~\n]{1,2000}(?<=\S)\2|[*_~`|]+/g;

function brokenBy(text: string, end: number): (at: number) => boolean {
  const spans = [...text.slice(0, end + 2_000).matchAll(SPANS)].filter(({ index }) => index < end);
  return (at) => spans.some(({ index, 0: found }) => at > index && at < index + found.length);
}

function openFence(text: string): Fence | undefined {
  let open: Fence | undefined;
  for (const { 0: line, 1: indent = '', 2: mark = '', 3: info = '', index } of text.matchAll(
    /^([ \t]*)(`{3,}|~{3,})([^\n]*)$/gm,
  )) {
    if (open && mark.startsWith(open.mark) && info.trim() === '') open = undefined;
    else if (!open && !(mark.startsWith('`') && info.includes('`')))
      open = {
        mark,
        info: info.trim().slice(0, 30).toWellFormed(),
        indent: indent.length,
        start: index,
        inside: index + line.length + 1,
      };
  }
  return open;
}

function close(part: string): string {
  const fence = openFence(part);
  return fence ? `${part.replace(/\n+$/, '')}\n${' '.repeat(fence.indent)}${fence.mark}` : part.trimEnd();
}

/**
 * What is skipped after the cut, and the line that reopens the block of code around it. Its code then begins at the
 * margin.
 */
function goOn(whole: string, end: number): { readonly opening: string; readonly rest: string } {
  const fence = openFence(whole.slice(0, end));
  if (!fence) return { opening: '', rest: whole.slice(end).trimStart() };
  const lines = whole.slice(end).replace(/^\n/, '').split('\n');
  const closing = lines.findIndex((line) => line.trim() === fence.mark);
  if (closing === 0) return { opening: '', rest: lines.slice(1).join('\n').trimStart() };
  const margin = new RegExp(`^[ \\t]{0,${fence.indent}}`);
  const rest = lines.map((line, at) => (closing < 0 || at <= closing ? line.replace(margin, '') : line));
  return { opening: `${fence.mark}${fence.info}\n`, rest: rest.join('\n') };
}
