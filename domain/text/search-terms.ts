/**
 * The words of a text as the memory index stores them, so that an identifier is found in every spelling. `INC-2291`,
 * `inc2291` and `Inc 2291` all give `inc`, `2291` and `inc2291`; `maxRetryCount` and `max_retry_count` both give `max`,
 * `retry`, `count` and `maxretrycount`.
 */

/** Characters of a joined identifier. Longer ones are paths and addresses, which are found by their parts. */
const JOINED = 80;
/** How many neighbouring words of a question may be one identifier: `retry backoff ms`. */
const NEIGHBOURS = 3;

const COMPOUND = /[\p{L}\p{N}]+(?:[-_.:/#@][\p{L}\p{N}]+)*/gu;
/** Characters that separate identifiers: `billing/retry.backoff_ms`. */
const OUTER = /[.:/#@]+/;
/**
 * Chinese, Japanese and others without spaces; and Korean, whose words have endings that are separate words in other
 * languages.
 */
const UNSPACED =
  /([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+)/u;

/** Whether a text has letters of scripts without spaces between words, which full-text search takes for one word. */
export function hasUnspacedWords(text: string): boolean {
  return UNSPACED.test(text);
}

/** Numbers in groups, as in telephone and card numbers and money: `030 555 0142`, `4,812`. */
const GROUPED_NUMBER = /\d+(?:[ ,'’]\d+)+/g;
const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{Lt}]+|\p{N}+|\p{L}+/gu;

/** Splits a text into sentences or lines, in order. Equal texts give equal results. */
export function sentencesOf(text: string): readonly string[] {
  return text.split(/\n|(?<=[.!?]) /);
}

/** Terms for a tsvector: words separated by spaces, a line for each sentence. */
export function searchTerms(text: string): string {
  return sentencesOf(text)
    .map((sentence) =>
      [
        ...compoundsOf(sentence).flatMap(({ parts, joined }) => [...parts, ...joined]),
        ...groupedNumbers(sentence),
      ].join(' '),
    )
    .join('\n');
}

export interface QuestionTerms {
  readonly words: readonly string[];
  /** Identifiers, and neighbouring words that may be one, because a question may write its parts separately. */
  readonly joined: readonly string[];
}

/** The terms of a question, each once. */
export function questionTerms(text: string): QuestionTerms {
  const compounds = compoundsOf(text);
  const words = compounds.flatMap(({ parts }) => parts);
  const runs = words.flatMap((_, at) =>
    Array.from({ length: NEIGHBOURS - 1 }, (_run, more) => words.slice(at, at + more + 2).join('')),
  );
  const joined = [...compounds.flatMap((compound) => compound.joined), ...groupedNumbers(text), ...runs];
  const known = new Set(words);
  return {
    words: [...known],
    joined: [...new Set(joined)].filter((word) => word.length <= JOINED && !known.has(word)),
  };
}

interface Compound {
  readonly parts: readonly string[];
  /** Identifiers of several parts: the whole, and the parts between dots and slashes. */
  readonly joined: readonly string[];
}

/** Numbers without the characters that separate their groups. */
function groupedNumbers(text: string): readonly string[] {
  return (text.match(GROUPED_NUMBER) ?? [])
    .map((number) => number.replaceAll(/\D/g, ''))
    .filter(({ length }) => length <= JOINED);
}

function compoundsOf(text: string): readonly Compound[] {
  const plain = text
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .normalize('NFC');
  return (plain.match(COMPOUND) ?? []).map((compound) => {
    const parts = (compound.match(PART) ?? []).flatMap((part) => splitWords(part.toLowerCase()));
    const wholes = [compound, ...compound.split(OUTER)].map((one) =>
      one.replaceAll(/[^\p{L}\p{N}]+/gu, '').toLowerCase(),
    );
    const joined = wholes.filter(
      (whole) => whole.length <= JOINED && !parts.includes(whole) && !UNSPACED.test(whole),
    );
    return { parts, joined: [...new Set(joined)] };
  });
}

/**
 * In scripts without spaces or with endings, each two neighbouring letters count as one word, so that a question finds
 * the words that it shares with a text.
 */
export function splitWords(part: string): readonly string[] {
  return part.split(UNSPACED).flatMap((run) => {
    if (!UNSPACED.test(run)) return run === '' ? [] : [run];
    const letters = Array.from(run);
    return letters.length === 1 ? [run] : letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
  });
}
