import { defineFeature } from '#domain/feature.ts';
import { mcpSettings } from './settings.ts';

export const mcp = defineFeature({
  name: 'mcp',
  summary: 'MCP servers whose tools agents use: connections, grants, logins, consent.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  settings: [mcpSettings],
  addedTools: () => import('./catalog.ts'),
  api: () => import('./api.ts'),
  worker: () => import('./worker.ts'),
  routes: [
    () => import('./routes/mcp-credentials.ts'),
    () => import('./routes/mcp-grants.ts'),
    () => import('./routes/mcp-requests.ts'),
    () => import('./routes/mcp-servers.ts'),
  ],
  commands: [
    {
      group: 'Rules, tools and limits:',
      name: 'mcp',
      summary:
        'MCP servers and their tools: list, show, add, set, delete, test, consent, grants, requests, login, import, export, serve',
      load: () => import('./commands/mcp.ts'),
    },
  ],
});
