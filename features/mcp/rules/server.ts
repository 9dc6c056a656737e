/**
 * What an MCP server is to us (MC-1): how it is reached, what its tools are called, and what we store about a tool that
 * it lists.
 */
import type { AddedReplay } from '#domain/added-tool.ts';
import { cleanOutsideText } from '#domain/text/hidden-text.ts';
import { isRecord } from '#domain/outside-value.ts';
import type { mcpServerConfigSchema } from '../schema/mcp-server.ts';
import type { Kept } from '#domain/schema/scalars.ts';

/** What is stored in clear text. Its variables and headers are sealed. */
export type McpServerConfig = Kept<typeof mcpServerConfigSchema>;

/** What is sealed; values may refer to secrets (`secret://NAME`). */
export interface McpCredentials {
  readonly env: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}

/** What is sealed for a user, or for a login that is for all. */
export interface KeptMcpCredentials extends McpCredentials {
  /** As features/mcp/activities/oauth.ts stores them: a login, and one that is under way. */
  readonly oauth?: unknown;
  readonly pending?: unknown;
}

/** Splits a server's fields into what is stored in clear text and what is sealed. */
export function splitServer<
  Given extends McpCredentials & {
    readonly transport?: McpServerConfig['transport'] | undefined;
    readonly url: string;
  },
>({ env, headers, transport, ...rest }: Given) {
  const usual = rest.url === '' ? ('stdio' as const) : ('streamable-http' as const);
  return { config: { ...rest, transport: transport ?? usual }, credentials: { env, headers } };
}

/** A tool as its server describes it, within our limits. People consent to all of this. */
export interface McpToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. It is untrusted: shown and passed on, never compiled. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly readOnlyHint?: boolean;
  readonly idempotentHint?: boolean;
  /** May be run as a task, or must be (2025-11-25). */
  readonly task?: true;
}

/**
 * `my-server` becomes `mcp_my_server`, and `mcp_x` becomes `mcp_mcp_x`, because another server may be called `x`. A
 * prefix replaces the name, with or without `mcp_` before it.
 */
export function mcpBaseName(prefix: string, server: string): string {
  const word = (prefix || server).replaceAll('-', '_');
  return prefix !== '' && word.startsWith('mcp_') ? word : `mcp_${word}`;
}

export function mcpToolName(base: string, tool: string): string {
  return `${base}__${tool}`;
}

/** GoClaw's name, with one underscore. */
export function goclawToolName(base: string, tool: string): string {
  return `${base}_${tool}`;
}

/** MC-2: the name that clawft's agents know. */
export function clawftToolName(server: string, tool: string): string {
  return `${server}__${tool}`;
}

/** Tools of one server; a model cannot use a longer list. */
export const MAX_MCP_TOOLS = 200;
const MAX_DESCRIPTION = 4_000;
const MAX_SCHEMA_CHARACTERS = 32_768;
const MAX_SCHEMA_DEPTH = 12;
/** Names as in the protocol, without what would be another path segment. */
const TOOL_NAME = /^[A-Za-z0-9_.-]{1,100}$/;
/** Keywords that say which arguments there are. Identifiers would connect a schema with others. */
const KEYWORDS = [
  'properties',
  'required',
  'additionalProperties',
  'patternProperties',
  '$defs',
  'definitions',
  'anyOf',
  'oneOf',
  'allOf',
];

/** A tool from `tools/list`; undefined for an unusable one: no name, or a schema that exceeds limits. */
export function readMcpTool(listed: unknown): McpToolDefinition | undefined {
  if (!isRecord(listed)) return undefined;
  const { name, description, inputSchema, annotations, execution } = listed;
  if (typeof name !== 'string' || !TOOL_NAME.test(name)) return undefined;
  const tasks = isRecord(execution) ? execution['taskSupport'] : undefined;
  const schema = readSchema(inputSchema);
  if (!schema) return undefined;
  const hints = isRecord(annotations) ? annotations : {};
  const text = typeof description === 'string' ? cleanOutsideText(description.slice(0, MAX_DESCRIPTION)) : '';
  return {
    name,
    description: text.trim() || `The tool ${name}`,
    schema,
    ...(hints['readOnlyHint'] === true && { readOnlyHint: true }),
    ...(hints['idempotentHint'] === true && { idempotentHint: true }),
    ...((tasks === 'optional' || tasks === 'required') && { task: true }),
  };
}

function readSchema(value: unknown): McpToolDefinition['schema'] | undefined {
  if (!isRecord(value) || depthOf(value, MAX_SCHEMA_DEPTH) > MAX_SCHEMA_DEPTH) return undefined;
  const kept = Object.entries(value).filter(([key]) => KEYWORDS.includes(key));
  const properties = isRecord(value['properties']) ? value['properties'] : {};
  const schema = { ...Object.fromEntries(kept), type: 'object', properties };
  const text = JSON.stringify(schema);
  return text.length <= MAX_SCHEMA_CHARACTERS && !UNSTORABLE.test(text) ? schema : undefined;
}

/** Matches in JSON: NUL, and halves of surrogate pairs, which only occur escaped. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/;

/** Levels of objects and lists; it counts no deeper than `max` plus one. */
function depthOf(value: unknown, max: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (max < 0) return 1;
  let deepest = 0;
  for (const inner of Object.values(value)) deepest = Math.max(deepest, depthOf(inner, max - 1));
  return 1 + deepest;
}

/**
 * What a second run would do: an admin's statement comes first, then the server's if it is trusted, else it counts as
 * harmful.
 */
export function mcpReplay(
  { replay, trust_hints }: Pick<McpServerConfig, 'replay' | 'trust_hints'>,
  { name, readOnlyHint, idempotentHint }: McpToolDefinition,
): AddedReplay {
  const text = Object.hasOwn(replay, name) ? replay[name] : undefined;
  if (text !== undefined) return text;
  if (!trust_hints) return 'once';
  return readOnlyHint ? 'readonly' : idempotentHint ? 'idempotent' : 'once';
}
