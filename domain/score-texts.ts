/** Which of a few short texts say most of a query's words, the rare ones counting most. */
import { tokensOf } from './embed-text.ts';

export interface TextPart {
  readonly text: string;
  /** What a word of the query counts that stands in it. */
  readonly weight: number;
}

/** Words that share so many of their first letters, and so much of the shorter one, are taken for forms of one. */
const STEM = 4;
const SHARED = 0.8;
/** What a form of a word counts of the word. */
const FORM = 0.6;

/** Of each text, 0 and more: the part of the query that it has, 1 where all of it stands in a part of weight 1. */
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

/** 1: the same; 0: another. */
function likeness(word: string, other: string): number {
  if (word === other) return 1;
  if (word === `${other}s` || other === `${word}s`) return FORM;
  const min = Math.min(word.length, other.length);
  const shared = Math.max(STEM, Math.ceil(min * SHARED));
  return min >= STEM && word.slice(0, shared) === other.slice(0, shared) ? FORM : 0;
}
