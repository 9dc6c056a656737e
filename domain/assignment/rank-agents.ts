/** Ranks agents for a task (DE-3) by full-text search and similarity together, of words or of a model's embeddings. */
import { embedText, similarity } from '../text/embed-text.ts';

export interface SearchedAgent {
  readonly key: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly frontmatter: string | null;
  /** Rank of the full-text search, 0 or more. */
  readonly rank: number;
}

const TEXT_WEIGHT = 0.6;
/**
 * A text below this similarity is no match unless it contains the words. For models any two texts are somewhat similar.
 */
const MIN_LIKENESS = { words: 0.1, model: 0.25 };

/** Vectors of one model: the query's, and the agents' in their order. All have length 1. */
export interface SearchVectors {
  readonly query: readonly number[];
  readonly agents: readonly (readonly number[])[];
}

/**
 * Returns at most `max` agents, best first, without those that do not match at all. Without `vectors` similarity is
 * that of words.
 */
export function rankAgents<Agent extends SearchedAgent>(
  agents: readonly Agent[],
  query: string,
  max: number,
  vectors?: SearchVectors,
): readonly (Agent & { readonly score: number })[] {
  const expected = vectors?.query ?? embedText(query);
  const min = vectors ? MIN_LIKENESS.model : MIN_LIKENESS.words;
  const best = Math.max(0, ...agents.map(({ rank }) => rank));
  return agents
    .map((agent, index) => ({
      agent,
      likeness: similarity(expected, vectors?.agents[index] ?? embedText(searchedText(agent))),
    }))
    .filter(({ agent, likeness }) => agent.rank > 0 || likeness >= min)
    .map(({ agent, likeness }) => ({
      ...agent,
      score: TEXT_WEIGHT * (best > 0 ? agent.rank / best : 0) + (1 - TEXT_WEIGHT) * Math.max(0, likeness),
    }))
    .sort((one, other) => other.score - one.score || (one.key < other.key ? -1 : 1))
    .slice(0, max);
}

/** The text of an agent that is searched. */
export function searchedText({ key, name, description, frontmatter }: Omit<SearchedAgent, 'rank'>): string {
  return [key, name, description, frontmatter].filter(Boolean).join('\n');
}
