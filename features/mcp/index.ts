/** Exports what other features may use of this one. */
export { mcpGrantPutSchema, mcpServerCreateSchema } from './schema/mcp-server.ts';
