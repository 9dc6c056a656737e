/** Which agent is best for a task (DE-3): full text and likeness of words together. */
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
/** Less alike than this is no find, unless its words are there. */
const LEAST_LIKENESS = 0.1;

/** Best first, at most `most`; those that have nothing of the query are left out. */
export function rankAgents<Agent extends SearchedAgent>(
  agents: readonly Agent[],
  query: string,
  most: number,
): readonly (Agent & { readonly score: number })[] {
  const wanted = embedText(query);
  const best = Math.max(0, ...agents.map(({ rank }) => rank));
  return agents
    .map((agent) => ({ agent, likeness: similarity(wanted, embedText(textOf(agent))) }))
    .filter(({ agent, likeness }) => agent.rank > 0 || likeness >= LEAST_LIKENESS)
    .map(({ agent, likeness }) => ({
      ...agent,
      score: TEXT_WEIGHT * (best > 0 ? agent.rank / best : 0) + (1 - TEXT_WEIGHT) * Math.max(0, likeness),
    }))
    .sort((one, other) => other.score - one.score || (one.key < other.key ? -1 : 1))
    .slice(0, most);
}

function textOf({ key, name, description, frontmatter }: SearchedAgent): string {
  return [key, name, description, frontmatter].filter(Boolean).join('\n');
}
