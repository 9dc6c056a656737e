/**
 * Values known to be secret at run time, found in every encoding in which programs print them. A caller creates one set
 * per owner of texts, so that the values of one never affect the text of another.
 */
import { decodedView, hexView } from './decoded-view.ts';
import { addressForms, encodedForms } from './encoded-forms.ts';
import { type FormIndex, indexForms } from './form-index.ts';
import { REDACTED, type Redaction } from './redaction.ts';
import type { DecodedView } from './view-builder.ts';

export type RegisteredKind = 'credential' | 'server_ip';

export interface ValueToRegister {
  readonly value: string;
  readonly kind?: RegisteredKind;
}

interface ValueForm {
  readonly text: string;
  readonly kind: RegisteredKind;
  readonly isCore: boolean;
}

export interface RegisteredValues {
  /** Number of distinct accepted values; empty or too short ones are not accepted. */
  readonly size: number;
  readonly forms: FormIndex<ValueForm>;
  /** There are values that may occur in a text with escapes, line ends or columns. */
  readonly hasCredentials: boolean;
  /** UTF-16 units of the longest form; a stream may hold back this much. */
  readonly longest: number;
}

/** With fewer than 6 characters a value is a common word, and replacing it would destroy texts. */
const MIN_CREDENTIAL = 6;
/** A registered value is a key, a password or a key file. */
const MAX_VALUE = 65_536;
/** How many encodings may be nested. */
const MAX_DEPTH = 3;
/** Greatest growth of a character in an escaped form (`\u002d`); base64 and hex need less. */
const MAX_GROWTH = 6;

export const NO_VALUES: RegisteredValues = {
  size: 0,
  forms: indexForms([]),
  hasCredentials: false,
  longest: 0,
};

/** Values that are too short to distinguish from words, or longer than 64 Ki characters, are left out. */
export function registerValues(values: Iterable<string | ValueToRegister>): RegisteredValues {
  const forms = new Map<string, ValueForm>();
  const seen = new Set<string>();
  let longest = 0;
  let hasCredentials = false;
  const add = (text: string, kind: RegisteredKind, isCore: boolean): void => {
    if (text !== '' && !forms.has(text)) forms.set(text, { text, kind, isCore });
  };
  for (const entry of values) {
    const { value, kind = 'credential' } = typeof entry === 'string' ? { value: entry } : entry;
    if (seen.has(value) || value.length > MAX_VALUE) continue;
    if (kind === 'credential' ? value.length < MIN_CREDENTIAL : value === '') continue;
    seen.add(value);
    longest = Math.max(longest, value.length * MAX_GROWTH);
    if (kind === 'server_ip') {
      for (const text of addressForms(value)) add(text, kind, false);
      continue;
    }
    hasCredentials = true;
    for (const { text, isCore } of encodedForms(value)) {
      add(text, kind, isCore);
      // The form in a text whose lines were joined, and whose escapes were decoded: the value may look like one.
      add(text.replace(/\r?\n[ \t]*/g, ''), kind, isCore);
      const decoded = isCore ? '' : (decodedView(text)?.text ?? '');
      if (decoded.length >= MIN_CREDENTIAL) add(decoded, kind, isCore);
    }
  }
  return { size: seen.size, forms: indexForms([...forms.values()]), hasCredentials, longest };
}

const COLUMNS = /(?:[0-9a-f]{2}){1,4}[\s:]{1,3}(?:(?:[0-9a-f]{2}){1,4}[\s:]{1,3}){2}/i;

export function findRegistered(text: string, values: RegisteredValues, out: Redaction[]): void {
  if (values.size === 0) return;
  values.forms.find(text, (form, start) => {
    if (form.kind === 'server_ip' && !isWholeAddress(text, start, start + form.text.length)) return;
    out.push(redactionOf(text, form, start));
  });
  if (!values.hasCredentials) return;
  const views = COLUMNS.test(text) ? [hexView(text)] : [];
  // JSON within JSON, or a URL within a URL, needs several decoding passes.
  for (let view = decodedView(text), depth = 0; view && depth < MAX_DEPTH; view = deeper(view), depth++)
    views.push(view);
  for (const view of views) {
    const found: Redaction[] = [];
    findCredentials(view.text, values, found);
    for (const each of found) out.push({ ...each, ...view.original(each.start, each.end) });
  }
}

/** Finds only unencoded values, without addresses. */
export function findCredentials(text: string, values: RegisteredValues, out: Redaction[]): void {
  if (!values.hasCredentials) return;
  values.forms.find(text, (form, start) => {
    if (form.kind === 'credential') out.push(redactionOf(text, form, start));
  });
}

function deeper(view: DecodedView): DecodedView | undefined {
  const next = decodedView(view.text);
  if (!next) return undefined;
  return {
    text: next.text,
    original(start, end) {
      const between = next.original(start, end);
      return view.original(between.start, between.end);
    },
  };
}

function redactionOf(text: string, { text: found, kind, isCore }: ValueForm, start: number): Redaction {
  const end = start + found.length;
  const place = isCore ? withEdges(text, start, end) : { start, end };
  return {
    ...place,
    kind: `registered_${kind}`,
    placeholder: kind === 'server_ip' ? '[SERVER_IP]' : REDACTED,
  };
}

const BEFORE_CORE = /[A-Za-z0-9+/_-]{0,4}$/;
const AFTER_CORE = /^[A-Za-z0-9+/_-]{0,4}={0,2}/;

function withEdges(text: string, start: number, end: number): { start: number; end: number } {
  const lead = BEFORE_CORE.exec(text.slice(Math.max(0, start - 4), start))?.[0].length ?? 0;
  const tail = AFTER_CORE.exec(text.slice(end, end + 6))?.[0].length ?? 0;
  return { start: start - lead, end: end + tail };
}

/** 10.0.0.1 is not in 110.0.0.12. */
function isWholeAddress(text: string, start: number, end: number): boolean {
  const digit = /[0-9]/;
  return !digit.test(text[start - 1] ?? '') && !digit.test(text[end] ?? '');
}
