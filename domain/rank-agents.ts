/** Which agent is best for a task (DE-3): full text and likeness together, of words or of what a model makes of them. */
import { embedText, similarity } from './embed-text.ts';

export interface SearchedAgent {
  readonly key: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly frontmatter: string | null;
  /** Of the full-text search, 0 and more. */
  readonly rank: number;
}

const TEXT_WEIGHT = 0.6;
/** Less alike than this is no find, unless its words are there. Models find any two texts somewhat alike. */
const MIN_LIKENESS = { words: 0.1, model: 0.25 };

/** Of one model: the query's vector, and each agent's in their order. All are of length 1. */
export interface SearchVectors {
  readonly query: readonly number[];
  readonly agents: readonly (readonly number[])[];
}

/** Best first, at most `most`; those that have nothing of the query are left out. Without `vectors` likeness is that of words. */
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

/** What of an agent is searched. */
export function searchedText({ key, name, description, frontmatter }: Omit<SearchedAgent, 'rank'>): string {
  return [key, name, description, frontmatter].filter(Boolean).join('\n');
}
