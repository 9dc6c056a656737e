/** Orders pieces that words have found. Equally good ones are ordered by their time, as the question requires. */
import { type QuestionTime, dateIn } from './question-time.ts';
import type { FoundBy } from './fuse-hits.ts';
import { sentencesOf } from '#domain/text/search-terms.ts';

/** A piece with words of the question. */
export interface WordMatch<Item> extends FoundBy<Item> {
  readonly path: string;
  readonly heading: string;
  readonly text: string;
  /** When its document was written. */
  readonly written: Date;
  /** Sums of the words' weights: in its best sentence with the headings above it, and in the whole piece. */
  readonly near: number;
  readonly whole: number;
  /** The weight of repeated words, relative to its length. */
  readonly rank: number;
  /** Index of the best sentence, from 0 (sentencesOf). */
  readonly sentence: number;
}

/** How much the rest of a piece counts, relative to its best sentence. */
const REST = 0.1;
/** Matches whose scores differ by at most this are equally good. */
const ALIKE = 0.05;

/** Returns the best first. */
export function rankMatches<Item>(
  matches: readonly WordMatch<Item>[],
  time: QuestionTime,
): readonly WordMatch<Item>[] {
  const scored = matches
    .map((match) => ({ match, score: match.near + REST * match.whole + match.rank, at: timeOf(match) }))
    .toSorted((one, other) => other.score - one.score);
  const ranked: WordMatch<Item>[] = [];
  for (let from = 0; from < scored.length; ) {
    const min = (scored[from]?.score ?? 0) * (1 - ALIKE);
    const to = scored.findLastIndex(({ score }) => score >= min) + 1;
    const group = scored.slice(from, to);
    ranked.push(
      ...group
        .toSorted((one, other) => distance(one.at, time) - distance(other.at, time))
        .map(({ match }) => match),
    );
    from = to;
  }
  return ranked;
}

/**
 * Milliseconds since 1970 of what the piece's best sentence says, as far as it or the headings above it state a time.
 */
export function timeOf({ text, sentence, heading, path, written }: WordMatch<unknown>): number {
  const span = dateIn(sentencesOf(text)[sentence] ?? '') ?? dateIn(heading) ?? dateIn(path);
  return span?.from ?? written.getTime();
}

/** A smaller value fits the question better. */
function distance(at: number, { order, until }: QuestionTime): number {
  if (order === 'oldest') return at;
  // What was said later did not hold then.
  return at < until ? -at : at;
}
