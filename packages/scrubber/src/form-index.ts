/**
 * Finds many texts in one in a single pass, whatever their number. It computes a rolling hash of the last three
 * characters; a bit table rejects nearly all positions, and only the rest is compared.
 */

export interface FormIndex<Form> {
  /** Reports each occurrence; those of one form do not overlap. Unordered. */
  find(text: string, onHit: (form: Form, start: number) => void): void;
  /**
   * Start of the earliest suffix of `text`, at or after `from`, that is a proper prefix of a form; the length when
   * there is none. White space is ignored on both sides.
   */
  beginsAt(text: string, from: number): number;
}

/** Number of characters in the hash: a character is shifted out of 20 bits after three. */
const WINDOW = 3;
const SHIFT = 7;
const MASK = 0xf_ffff;
/** Positions of a form that are considered as its index window: more would only slow the construction. */
const PLACES = 12;

interface Entry<Form> {
  readonly form: Form;
  readonly text: string;
  /** Distance from its start to the end of its index window. */
  readonly lead: number;
  /** The end of its last occurrence in the current text. */
  end: number;
}

export function indexForms<Form extends { readonly text: string }>(forms: readonly Form[]): FormIndex<Form> {
  const bits = new Uint32Array((MASK + 1) / 32);
  const buckets = new Map<number, Entry<Form>[]>();
  const short: Entry<Form>[] = [];
  const entries: Entry<Form>[] = [];
  for (const form of forms) {
    const { text } = form;
    const place = text.length < WINDOW ? undefined : rarest(text, buckets);
    const entry = { form, text, lead: place?.end ?? 0, end: 0 };
    entries.push(entry);
    if (!place) {
      short.push(entry);
      continue;
    }
    const bucket = buckets.get(place.hash);
    if (bucket) bucket.push(entry);
    else buckets.set(place.hash, [entry]);
    bits[place.hash >>> 5] = (bits[place.hash >>> 5] as number) | (1 << (place.hash & 31));
  }
  const beginnings = createBeginnings(forms.map(({ text }) => text));

  return {
    find(text, onHit) {
      for (const entry of entries) entry.end = 0;
      for (const { form, text: required } of short)
        for (let at = text.indexOf(required); at >= 0; at = text.indexOf(required, at + required.length))
          onHit(form, at);
      if (buckets.size === 0) return;
      let hash = 0;
      for (let at = 0; at < text.length; at++) {
        hash = ((hash << SHIFT) ^ text.charCodeAt(at)) & MASK;
        if (((bits[hash >>> 5] as number) & (1 << (hash & 31))) === 0) continue;
        for (const entry of buckets.get(hash) ?? []) {
          const start = at + 1 - entry.lead;
          if (start < entry.end || !text.startsWith(entry.text, start)) continue;
          entry.end = start + entry.text.length;
          onHit(entry.form, start);
        }
      }
    },
    beginsAt: beginnings,
  };
}

/** The window of the text that the fewest others use, so that a common prefix (`sk-…`) is avoided. */
function rarest(
  text: string,
  buckets: ReadonlyMap<number, readonly unknown[]>,
): { hash: number; end: number } {
  const last = text.length - WINDOW;
  const step = Math.max(1, Math.floor(last / PLACES));
  let best = { hash: 0, end: 0, load: Number.POSITIVE_INFINITY };
  for (let at = last; at >= 0 && best.load > 0; at -= step) {
    let hash = 0;
    for (let i = at; i < at + WINDOW; i++) hash = ((hash << SHIFT) ^ text.charCodeAt(i)) & MASK;
    const load = buckets.get(hash)?.length ?? 0;
    if (load < best.load) best = { hash, end: at + WINDOW, load };
  }
  return best;
}

const SPACE = /(?:\s|\\[nrt])+/g;
/** Prefixes are indexed by this many characters, and by one when there are fewer. */
const TELLING = 3;

function createBeginnings(forms: readonly string[]): (text: string, from: number) => number {
  const byStart = new Map<string, string[]>();
  const add = (start: string, form: string): void => {
    const known = byStart.get(start);
    if (known) known.push(form);
    else byStart.set(start, [form]);
  };
  for (const form of new Set(forms.map((each) => each.replace(SPACE, '')))) {
    if (form === '') continue;
    for (let size = 1; size <= TELLING && size < form.length; size++) add(form.slice(0, size), form);
  }
  return (text, from) => {
    const tail = text.slice(from);
    const squeezed = tail.replace(SPACE, '');
    for (let at = 0; at < squeezed.length; at++) {
      const rest = squeezed.length - at;
      const known = byStart.get(squeezed.slice(at, at + TELLING));
      if (!known) continue;
      const end = squeezed.slice(at);
      if (known.some((form) => form.length > rest && form.startsWith(end))) return from + placeOf(tail, at);
    }
    return text.length;
  };
}

/** Position of the n-th character (from 0) that is not white space. */
function placeOf(text: string, n: number): number {
  let seen = 0;
  let read = 0;
  for (const space of text.matchAll(SPACE)) {
    if (seen + space.index - read > n) break;
    seen += space.index - read;
    read = space.index + space[0].length;
  }
  return read + n - seen;
}
