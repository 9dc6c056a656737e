import { defineFeature } from '#domain/feature.ts';

export const mcpServer = defineFeature({
  name: 'mcp-server',
  summary: 'TempoClaw as an MCP server: its tools and approvals for other programs.',
  routes: [() => import('./routes/mcp.ts')],
  subcommands: { mcp: () => import('./commands/mcp-serve.ts') },
});
