/**
 * A tool of an MCP server as one of the catalog (MC-2). The server defines its arguments, which are only checked by
 * name.
 */
import { grantProblem, maxCallSeconds } from '../rules/grants.ts';
import { SAMPLING_SECONDS } from '#domain/model/sampling.ts';
import { clawftToolName, goclawToolName, mcpReplay, mcpToolName } from '../rules/server.ts';
import type { McpToolsOfServer } from '../store/mcp-tool-store.ts';
import type { Tool } from '#policy/define-tool.ts';
import { uncheckedArguments } from '#policy/unchecked-arguments.ts';

/** Seconds to connect and to list its tools, in addition to the call's own time. */
export const CONNECT_SECONDS = 70;

type Server = Omit<McpToolsOfServer, 'tools'>;
type ToolOfServer = McpToolsOfServer['tools'][number];

export function catalogedMcpTools(server: McpToolsOfServer): readonly Tool[] {
  return server.tools.map((tool) => catalogedMcpTool(server, tool));
}

/** This tool can be judged and shown; a runnable one is made for its call. */
export function catalogedMcpTool(
  { name: server, base, config, grants }: Server,
  { id, revision, definition }: ToolOfServer,
): Tool {
  const { name, description } = definition;
  return {
    name: mcpToolName(base, name),
    description,
    group: 'mcp',
    outside: true,
    mcp: { server, isInternal: config.internal_only },
    accessProblem: (agent, user) =>
      grantProblem({ server, tool: name, requireGrant: config.require_grant, grants }, agent, user),
    replay: mcpReplay(config, definition),
    definition: { id, revision },
    aliases: { [clawftToolName(server, name)]: {}, [goclawToolName(base, name)]: {} },
    forms: { clawft: { name: clawftToolName(server, name) } },
    input: uncheckedArguments(definition.schema, { placeholders: true }),
    limits: {
      duration: 'long',
      inline: true,
      costly: true,
      timeoutSeconds:
        maxCallSeconds(config.timeout_sec, grants) +
        CONNECT_SECONDS +
        (config.sampling ? SAMPLING_SECONDS : 0),
    },
    run: () => Promise.reject(new Error('a tool of a catalog does not run')),
  };
}
