/** The MCP server of the bench, as the API takes it. */
import { fileURLToPath } from 'node:url';

export const MCP_SERVER_FILE = fileURLToPath(new URL('./mcp-server.ts', import.meta.url));

export const BENCH_MCP_SERVER = {
  name: 'bench',
  command: process.execPath,
  args: [MCP_SERVER_FILE],
  trust_hints: true,
} as const;
