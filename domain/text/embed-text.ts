/**
 * A small embedding that needs no model and returns the same numbers on every machine: words and their parts, hashed
 * into a fixed number of dimensions. It finds similar words, not similar meanings; a provider's model is better where
 * one is configured.
 */
import { splitWords } from './search-terms.ts';

const DIMENSIONS = 256;
/** A part of a word counts less than the whole word. */
const PART_WEIGHT = 0.35;

/** English words that occur in every text and do not describe its subject. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  'a about all am an and any are as at be by can could did do does for from had has have he her him his how i if in into is it its let me my not of on or our please she should so some than that the their them then there these this those to up us was we were what when where which who will with would you your'.split(
    ' ',
  ),
);

/** A vector of length 1, or all zeros for a text without words. */
export function embedText(text: string): readonly number[] {
  const vector = Array.from({ length: DIMENSIONS }, () => 0);
  for (const word of tokensOf(text)) {
    add(vector, word, 1);
    const padded = `^${word}$`;
    for (let at = 0; at + 3 <= padded.length; at += 1) add(vector, padded.slice(at, at + 3), PART_WEIGHT);
  }
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** Similarity from -1 to 1 of two embeddings; 0 when one of the texts has no words. */
export function similarity(one: readonly number[], other: readonly number[]): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
}

/** The words in lower case, without the stop words; of scripts without spaces each two neighbouring letters. */
export function tokensOf(text: string): readonly string[] {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.flatMap(splitWords).filter((word) => !STOP_WORDS.has(word));
}

/** FNV-1a selects the dimension; one more bit of it selects the sign, so that collisions cancel out. */
function add(vector: number[], part: string, weight: number): void {
  let hash = 0x811c9dc5;
  for (let at = 0; at < part.length; at += 1) hash = Math.imul(hash ^ part.charCodeAt(at), 0x01000193);
  const index = (hash >>> 1) % DIMENSIONS;
  vector[index] = (vector[index] ?? 0) + (hash & 1 ? weight : -weight);
}
