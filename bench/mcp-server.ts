/** An MCP server over stdio whose one tool takes as long as requested, like services on a network. */
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const server = new McpServer({ name: 'bench', version: '1' });
server.registerTool(
  'work',
  {
    description: 'Takes so many milliseconds.',
    inputSchema: z.object({ ms: z.number(), call: z.string() }),
    annotations: { readOnlyHint: true },
  },
  async ({ ms, call }) => {
    await sleep(ms);
    return { content: [{ type: 'text', text: `done: ${call}` }] };
  },
);
await server.connect(new StdioServerTransport());
