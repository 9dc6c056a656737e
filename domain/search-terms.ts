/**
 * The words of a text as the index of memory has them, so that an identifier is found however it is typed: `INC-2291` is `inc`, `2291` and
 * `inc2291`, as `inc2291` and `Inc 2291` are; `maxRetryCount` is `max`, `retry`, `count` and `maxretrycount`, as `max_retry_count` is.
 */

/** Characters of a joined identifier: longer ones are paths and addresses, which are found by their parts. */
const JOINED = 80;
/** Neighbouring words of a question that may be one identifier: `retry backoff ms`. */
const NEIGHBOURS = 3;

const COMPOUND = /[\p{L}\p{N}]+(?:[-_.:/#@][\p{L}\p{N}]+)*/gu;
/** Identifiers stand between these: `billing/retry.backoff_ms`. */
const OUTER = /[.:/#@]+/;
/** Chinese, Japanese, and others without spaces; Korean, whose words end with what other languages say by a word of its own. */
const UNSPACED =
  /([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+)/u;
/** Of telephones, cards and money: `030 555 0142`, `4,812`. */
const GROUPED_NUMBER = /\d+(?:[ ,'’]\d+)+/g;
const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{Lt}]+|\p{N}+|\p{L}+/gu;

/** One text a sentence or line, in their order; the same number for the same text. */
export function sentencesOf(text: string): readonly string[] {
  return text.split(/\n|(?<=[.!?]) /);
}

/** To be made a tsvector: words with spaces between them, a line for each sentence. */
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
  /** Identifiers, and neighbouring words that may be one: who asks may write its parts apart. */
  readonly joined: readonly string[];
}

/** Each once. */
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
  /** Of identifiers of several parts: the whole, and what stands between dots and slashes. */
  readonly joined: readonly string[];
}

/** Without what stands between their groups. */
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

/** Where no spaces tell words apart, or words stand together with their endings, each two neighbouring letters are one, so that a question finds the words that it shares with a text. */
function splitWords(part: string): readonly string[] {
  return part.split(UNSPACED).flatMap((run) => {
    if (!UNSPACED.test(run)) return run === '' ? [] : [run];
    const letters = Array.from(run);
    return letters.length === 1 ? [run] : letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
  });
}
