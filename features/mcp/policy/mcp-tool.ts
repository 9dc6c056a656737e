/**
 * A tool of an MCP server as one of the catalog (MC-2). The server defines its arguments, which are only checked by
 * name.
 */
import { z } from 'zod';
import { grantProblem, maxCallSeconds } from '../rules/grants.ts';
import { isRecord } from '#domain/outside-value.ts';
import { SAMPLING_SECONDS } from '#domain/model/sampling.ts';
import {
  clawftToolName,
  goclawToolName,
  mcpReplay,
  mcpToolName,
  type McpToolDefinition,
} from '../rules/server.ts';
import type { McpToolsOfServer } from '../store/mcp-tool-store.ts';
import type { Tool } from '#policy/define-tool.ts';

/** Seconds to connect and to list its tools, in addition to the call's own time. */
export const CONNECT_SECONDS = 70;

/** Characters of all arguments: about a file. */
const MAX_ARGUMENTS = 1_048_576;

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
    input: argumentsSchema(definition),
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

/**
 * The server checks its arguments itself. Its schema is not compiled, because it could be made to take forever.
 * Required arguments must be present, and empty optional ones are not sent, because models fill in what they do not
 * mean.
 */
function argumentsSchema({ schema }: McpToolDefinition): z.ZodType {
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
  return z
    .unknown()
    .meta({ ...schema })
    .transform((raw, context) => {
      const input = isRecord(raw) ? raw : {};
      for (const name of required)
        if (!Object.hasOwn(input, name))
          context.addIssue({ code: 'custom', path: [name], message: 'is required' });
      if (JSON.stringify(input).length > MAX_ARGUMENTS)
        context.addIssue({ code: 'custom', message: `have more than ${MAX_ARGUMENTS} characters` });
      const meant = Object.entries(input).filter(
        ([name, value]) => required.includes(name) || !(typeof value === 'string' && value.trim() === ''),
      );
      return Object.fromEntries(meant);
    });
}
