/** Which of a few short texts say most of a query's words, the rare ones counting most. */
import { wordsOf } from './embed-text.ts';

export interface TextPart {
  readonly text: string;
  /** What a word of the query counts that stands in it. */
  readonly weight: number;
}

/** Words whose beginnings are so long are taken for forms of one. */
const STEM = 4;

/** Of each text, 0 and more: the part of the query that it has, 1 where all of it stands in a part of weight 1. */
export function scoreTexts(texts: readonly (readonly TextPart[])[], query: string): readonly number[] {
  const asked = [...new Set(wordsOf(query))];
  const words = texts.map((parts) => parts.map(({ text, weight }) => ({ weight, words: wordsOf(text) })));
  const found = asked.map((word) =>
    words.map((parts) =>
      Math.max(
        0,
        ...parts.map((part) => (part.words.some((other) => isForm(word, other)) ? part.weight : 0)),
      ),
    ),
  );
  const rarity = found.map((weights) => Math.log(1 + texts.length / weights.filter(Boolean).length));
  const most = rarity.filter(Number.isFinite).reduce((sum, one) => sum + one, 0);
  return texts.map((_, at) =>
    found.reduce((sum, weights, word) => {
      const weight = weights[at] ?? 0;
      return weight > 0 ? sum + (weight * (rarity[word] ?? 0)) / most : sum;
    }, 0),
  );
}

function isForm(word: string, other: string): boolean {
  if (word === other) return true;
  const least = Math.min(word.length, other.length);
  const shared = Math.max(STEM, least - 2);
  return least >= STEM && word.slice(0, shared) === other.slice(0, shared);
}
