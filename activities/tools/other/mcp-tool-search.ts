/** mcp_tool_search: tools of MCP servers that the model is not told of, because there are many. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { embedText, similarity } from '#domain/embed-text.ts';
import type { OfferedTool } from '#domain/model.ts';
import { markOutside } from '#domain/outside-text.ts';
import { defineTool } from '#policy/define-tool.ts';
import { MCP_TOOL_SEARCH, toolLine } from '#policy/mcp/deferred-tools.ts';

/** Less alike than this is no find. */
const LEAST = 0.1;
/** Characters of a tool's arguments that are shown. */
const SCHEMA = 4_000;

const input = z.object({
  query: z.string().min(1).max(1_000).describe('What the tool should do, or a part of its name'),
  max_results: z.int().min(1).max(20).default(5).describe('How many to give'),
});

export const tool = defineTool<z.infer<typeof input>>({
  name: MCP_TOOL_SEARCH,
  description:
    'Find tools of MCP servers beyond those you are told of, by what they do. What it gives can be called by its name from then on.',
  group: 'other',
  replay: 'readonly',
  outside: true,
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ query }) => query,
  run: async (_deps, { query, max_results: most }, call) => {
    const wanted = embedText(query);
    const found = (await call.offeredMcpTools())
      .map((offered) => ({ offered, likeness: likenessOf(offered, query, wanted) }))
      .filter(({ likeness }) => likeness >= LEAST)
      .toSorted((one, other) => other.likeness - one.likeness)
      .slice(0, most);
    if (found.length === 0) return { ok: true, text: '(no tool of an MCP server does that)' };
    const text = found.map(({ offered }) => describe(offered)).join('\n\n');
    return { ok: true, text: markOutside({ id: randomUUID(), source: 'MCP servers', text }) };
  },
});

/** What is in the name is meant. */
function likenessOf({ name, description }: OfferedTool, query: string, wanted: readonly number[]): number {
  const isNamed = name.toLowerCase().includes(query.trim().toLowerCase());
  return similarity(wanted, embedText(`${name}\n${description}`)) + (isNamed ? 1 : 0);
}

function describe({ name, description, parameters }: OfferedTool): string {
  return `${toolLine(name)}\n${description}\narguments: ${JSON.stringify(parameters).slice(0, SCHEMA)}`;
}
