/** tool_search: finds tools that the model may call and that its prompt does not describe, because there are many. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { markOutside } from '#domain/text/outside-text.ts';
import { scoreTexts } from '#domain/text/score-texts.ts';
import { TOOL_SEARCH, toolLine } from '#policy/deferred-tools.ts';
import { defineTool, type FindableTool } from '#policy/define-tool.ts';

/** A tool with a lower score, by the rarity of the query's words, is no match. */
const MIN = 0.1;
/** Characters of a tool's arguments that are shown. */
const SCHEMA = 8_000;

const input = z.object({
  query: z.string().min(1).max(1_000).describe('What the tool should do, or its name'),
  max_results: z.int().min(1).max(20).default(5).describe('How many to give'),
});

export const tool = defineTool<z.infer<typeof input>>({
  name: TOOL_SEARCH,
  description:
    'Find tools that you have beyond those described to you, by what they do. What it gives can be called by its name from then on.',
  keywords: 'more other function functions capability capabilities ability available can do',
  group: 'other',
  replay: 'readonly',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ query }) => query,
  aliases: { mcp_tool_search: {} },
  forms: { goclaw: { name: 'mcp_tool_search' } },
  run: async (_deps, { query, max_results: max }, call) => {
    const tools = await call.findableTools();
    const scores = scoreTexts(tools.map(partsOf), query);
    const found = tools
      .map((findable, at) => ({ findable, score: (scores[at] ?? 0) + (isNamed(findable, query) ? 1 : 0) }))
      .filter(({ score }) => score >= MIN)
      .toSorted((one, other) => other.score - one.score)
      .slice(0, max)
      .map(({ findable }) => findable);
    if (found.length === 0) return { ok: true, text: '(no tool does that)' };
    const ours = found.filter(({ isOfServer }) => !isOfServer).map(describe);
    const theirs = found.filter(({ isOfServer }) => isOfServer).map(describe);
    const marked = { id: randomUUID(), source: 'MCP servers', text: theirs.join('\n\n') };
    return { ok: true, text: [...ours, ...(theirs.length > 0 ? [markOutside(marked)] : [])].join('\n\n') };
  },
});

/** The name counts most, and the arguments least. */
function partsOf({ name, description, keywords = '', parameters }: FindableTool) {
  const taken = JSON.stringify(parameters).slice(0, SCHEMA);
  return [
    { text: name, weight: 2 },
    { text: description.slice(0, SCHEMA), weight: 1 },
    { text: keywords, weight: 1 },
    { text: taken, weight: 0.5 },
  ];
}

/** A name in the query, or the query in a name, is a match. */
function isNamed({ name }: FindableTool, query: string): boolean {
  const requested = query.trim().toLowerCase();
  const own = name.toLowerCase();
  return own.includes(requested) || requested.split(/[^\p{L}\p{N}_]+/u).includes(own);
}

function describe({ name, description, parameters }: FindableTool): string {
  return `${toolLine(name)}\n${description}\narguments: ${JSON.stringify(parameters).slice(0, SCHEMA)}`;
}
