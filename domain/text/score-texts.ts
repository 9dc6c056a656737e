/** Finds which of a few short texts contain most of a query's words; rare words count most. */
import { tokensOf } from './embed-text.ts';

export interface TextPart {
  readonly text: string;
  /** Weight of a query's word that occurs in this part. */
  readonly weight: number;
}

/** Words that share this many first letters, and enough of the shorter one, count as forms of one word. */
const STEM = 4;
const SHARED = 0.8;
/** The weight of another form of a word. */
const FORM = 0.6;

/**
 * Returns for each text a score of 0 or more: the part of the query that it contains, 1 when all of it is in a part of
 * weight 1.
 */
export function scoreTexts(texts: readonly (readonly TextPart[])[], query: string): readonly number[] {
  const requests = [...new Set(tokensOf(query))];
  const words = texts.map((parts) => parts.map(({ text, weight }) => ({ weight, words: tokensOf(text) })));
  const found = requests.map((word) =>
    words.map((parts) =>
      Math.max(
        0,
        ...parts.map(
          (part) => part.weight * Math.max(0, ...part.words.map((other) => likeness(word, other))),
        ),
      ),
    ),
  );
  const rarity = found.map((weights) => Math.log(1 + texts.length / weights.filter(Boolean).length));
  const max = rarity.filter(Number.isFinite).reduce((sum, one) => sum + one, 0);
  return texts.map((_, at) =>
    found.reduce((sum, weights, word) => {
      const weight = weights[at] ?? 0;
      return weight > 0 ? sum + (weight * (rarity[word] ?? 0)) / max : sum;
    }, 0),
  );
}

/** 1 for the same word, 0 for a different one. */
function likeness(word: string, other: string): number {
  if (word === other) return 1;
  if (word === `${other}s` || other === `${word}s`) return FORM;
  const min = Math.min(word.length, other.length);
  const shared = Math.max(STEM, Math.ceil(min * SHARED));
  return min >= STEM && word.slice(0, shared) === other.slice(0, shared) ? FORM : 0;
}
