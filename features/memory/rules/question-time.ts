/**
 * Reads what a question says about time, and which day a line of a text is about. It reads English; other texts use the
 * time when they were written.
 */

export interface QuestionTime {
  /** Which of several statements is wanted. */
  readonly order: 'newest' | 'oldest';
  /** Milliseconds since 1970: only statements before this. Infinite if the question names no time. */
  readonly until: number;
  /** True if the question is about time, so that the time of statements decides. */
  readonly isAboutTime: boolean;
}

export interface DateSpan {
  /** Milliseconds since 1970; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const MONTH =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';
const ISO = /\b((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?\b/;
const DAY_FIRST = new RegExp(
  `\\b(\\d{1,2})(?:st|nd|rd|th)?(?: of)? ${MONTH}\\.?,? ((?:19|20)\\d\\d)\\b`,
  'i',
);
const MONTH_FIRST = new RegExp(`\\b${MONTH}\\.?(?: (\\d{1,2})(?:st|nd|rd|th)?,?)? ((?:19|20)\\d\\d)\\b`, 'i');

/** Only after such a word, because `may` and `march` are verbs too. */
const MONTH_ALONE = new RegExp(`\\b(?:in|during|by|until|of|since|end of) ${MONTH}\\b(?!\\.?,? \\d)`, 'i');

const OLDEST = /\b(?:first|original(?:ly)?|initial(?:ly)?|earliest|at the beginning|to begin with)\b/i;
const NEWEST =
  /\b(?:now|current(?:ly)?|today|at present|presently|latest|newest|last|still|these days|any more|anymore|nowadays)\b/i;

const BEFORE_AT_END =
  /^(.*\b(?:was|were|did|had|used)\b.*?),?\s+(?:before|until|prior to)\s+(.{3,}?)[\s?.!]*$/i;
const BEFORE_AT_START = /^\s*(?:before|until|prior to)\s+([^,]{3,}),\s*(.*\b(?:was|were|did|had|used)\b.*)$/i;

export interface BeforeEvent {
  /** The question without it. */
  readonly question: string;
  readonly event: string;
}

/** Reads a question about what was before something whose day it does not name; undefined if it is none. */
export function beforeEvent(text: string): BeforeEvent | undefined {
  if (dateIn(text) || MONTH_ALONE.test(text)) return undefined;
  const [, question, event] = BEFORE_AT_END.exec(text) ?? [];
  if (question !== undefined && event !== undefined) return { question, event };
  const [, first, rest] = BEFORE_AT_START.exec(text) ?? [];
  return first !== undefined && rest !== undefined ? { question: rest, event: first } : undefined;
}

/** The first date in the text, as far as it is exact; undefined if there is none. */
export function dateIn(text: string): DateSpan | undefined {
  const iso = ISO.exec(text);
  if (iso) return spanOf(iso[1], Number(iso[2]) - 1, iso[3]);
  const dayFirst = DAY_FIRST.exec(text);
  if (dayFirst) return spanOf(dayFirst[3], monthOf(dayFirst[2]), dayFirst[1]);
  const monthFirst = MONTH_FIRST.exec(text);
  if (monthFirst) return spanOf(monthFirst[3], monthOf(monthFirst[1]), monthFirst[2]);
  return undefined;
}

/** A month without a year is the last one of that name that has begun by `now`, in milliseconds since 1970. */
export function questionTime(question: string, now: number): QuestionTime {
  const date = dateIn(question) ?? lastMonth(MONTH_ALONE.exec(question)?.[1], new Date(now));
  const isOldest = date === undefined && OLDEST.test(question);
  return {
    order: isOldest ? 'oldest' : 'newest',
    until: date?.to ?? Infinity,
    isAboutTime: date !== undefined || isOldest || NEWEST.test(question) || /\bwhen\b/i.test(question),
  };
}

function lastMonth(name: string | undefined, now: Date): DateSpan | undefined {
  if (name === undefined) return undefined;
  const year = now.getUTCFullYear() - (monthOf(name) > now.getUTCMonth() ? 1 : 0);
  return spanOf(String(year), monthOf(name), undefined);
}

function monthOf(name: string | undefined): number {
  return MONTHS.indexOf(name?.slice(0, 3).toLowerCase() ?? '');
}

function spanOf(year: string | undefined, month: number, day: string | undefined): DateSpan | undefined {
  const first = Date.UTC(Number(year), month, day === undefined ? 1 : Number(day));
  const to = day === undefined ? Date.UTC(Number(year), month + 1, 1) : first + 86_400_000;
  // The 30 of February would be a day of March.
  const isDay = day === undefined || new Date(first).getUTCDate() === Number(day);
  return month >= 0 && month < 12 && isDay ? { from: first, to } : undefined;
}
