/**
 * A cheap no before an expensive look: which of the hundred literals that the detectors begin with are in a text at all.
 * One reading of the text tells it of all of them: in a short one by the pairs of neighbouring characters it has, in a
 * long one, which has nearly all pairs, by the literals themselves.
 */

const SIZE = 128 * 128;
/** Scratch, valid for the text of the newest `readText` only; never cleared, since entries carry their reading's number. */
const SEEN = new Uint32Array(SIZE);
let reading = 0;
/** Characters; from here on literals are looked for. */
const LONG = 4_096;
let isLong = false;

/** Characters that tell a literal, and the bits of their hash: one that is shifted so often is out of it. */
const WINDOW = 3;
const SHIFT = 6;
const MASK = 0xffff;
const BUCKETS: (Needed[] | undefined)[] = Array.from({ length: MASK + 1 }, () => undefined);

export interface Needed {
  readonly text: string;
  readonly pairs: readonly number[];
  /** The newest reading of a long text that had it. */
  seen: number;
}

/** To be made once a literal, when the detectors are. */
export function neededText(text: string): Needed {
  const pairs: number[] = [];
  for (let at = 1; at < text.length; at++) pairs.push(pairOf(text.charCodeAt(at - 1), text.charCodeAt(at)));
  const need: Needed = { text, pairs, seen: 0 };
  if (text.length >= WINDOW) {
    let hash = 0;
    for (let at = 0; at < WINDOW; at++) hash = rolled(hash, text.charCodeAt(at));
    BUCKETS[hash] = [...(BUCKETS[hash] ?? []), need];
  }
  return need;
}

/** Reads `text`, for the calls of `hasAny` that follow with the same text. */
export function readText(text: string): void {
  if (reading === 0xffff_ffff) {
    SEEN.fill(0);
    for (const need of BUCKETS.flatMap((bucket) => bucket ?? [])) need.seen = 0;
    reading = 0;
  }
  reading++;
  isLong = text.length >= LONG;
  if (isLong) readLiterals(text);
  else readPairs(text);
}

function readPairs(text: string): void {
  let before = text.charCodeAt(0);
  for (let at = 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    SEEN[pairOf(before, code)] = reading;
    before = code;
  }
}

function readLiterals(text: string): void {
  let hash = 0;
  for (let at = 0; at < text.length; at++) {
    hash = rolled(hash, text.charCodeAt(at));
    const bucket = BUCKETS[hash];
    if (bucket === undefined) continue;
    for (const need of bucket)
      if (need.seen !== reading && text.startsWith(need.text, at + 1 - WINDOW)) need.seen = reading;
  }
}

/** Whether one of `needs` is in `text`, which `readText` has read last. */
export function hasAny(text: string, needs: readonly Needed[]): boolean {
  return needs.some((need) => {
    if (!isLong) return need.pairs.every((pair) => SEEN[pair] === reading) && text.includes(need.text);
    return need.text.length < WINDOW ? text.includes(need.text) : need.seen === reading;
  });
}

function pairOf(first: number, second: number): number {
  return ((first & 127) << 7) | (second & 127);
}

function rolled(hash: number, code: number): number {
  return ((hash << SHIFT) ^ code) & MASK;
}
