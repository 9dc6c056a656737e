/** What an MCP server is to us (MC-1): how it is reached, what its tools are called, and what we keep of a tool that it lists. */
import type { AddedReplay } from '#domain/added-tool.ts';
import { cleanOutsideText } from '#domain/hidden-text.ts';
import { isRecord } from '#domain/outside-value.ts';
import type { mcpServerConfigSchema } from '../schema/mcp-server.ts';
import type { Kept } from '#domain/schema/scalars.ts';

export const MCP_TRANSPORTS = ['stdio', 'sse', 'streamable-http'] as const;

/** `degraded`: lost, and tried again; `failed`: given up for some minutes, or until somebody asks. */
export const MCP_STATUSES = ['connecting', 'ready', 'degraded', 'failed'] as const;
export type McpStatus = (typeof MCP_STATUSES)[number];

/** What is kept in the open. Its variables and headers are sealed. */
export type McpServerConfig = Kept<typeof mcpServerConfigSchema>;

export const MCP_CREDENTIALS = ['shared', 'per_user'] as const;

export const MCP_ORIGINS = ['api', 'settings'] as const;

/** What is sealed; values may refer to secrets (`secret://NAME`). */
export interface McpCredentials {
  readonly env: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}

/** What is sealed of a user, or of a login for all. */
export interface KeptMcpCredentials extends McpCredentials {
  /** As features/mcp/activities/oauth.ts keeps them: a login, and one that is under way. */
  readonly oauth?: unknown;
  readonly pending?: unknown;
}

/** What is given of a server, as it is kept: in the open, and sealed. */
export function splitServer<
  Given extends McpCredentials & {
    readonly transport?: McpServerConfig['transport'] | undefined;
    readonly url: string;
  },
>({ env, headers, transport, ...rest }: Given) {
  const usual = rest.url === '' ? ('stdio' as const) : ('streamable-http' as const);
  return { config: { ...rest, transport: transport ?? usual }, credentials: { env, headers } };
}

/** A tool as its server describes it, within our bounds. What people consent to is all of this. */
export interface McpToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. Hostile: shown and passed on, never compiled. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly readOnlyHint?: boolean;
  readonly idempotentHint?: boolean;
  /** May be run as a task, or must be (2025-11-25). */
  readonly task?: true;
}

/** `my-server` gives `mcp_my_server`; a prefix stands for the name, with or without `mcp_` before it. */
export function mcpBaseName(prefix: string, server: string): string {
  const word = (prefix || server).replaceAll('-', '_');
  return word.startsWith('mcp_') ? word : `mcp_${word}`;
}

export function mcpToolName(base: string, tool: string): string {
  return `${base}__${tool}`;
}

/** GoClaw's, with one underscore. */
export function goclawToolName(base: string, tool: string): string {
  return `${base}_${tool}`;
}

/** MC-2. The name that clawft's agents know. */
export function clawftToolName(server: string, tool: string): string {
  return `${server}__${tool}`;
}

/** Of one server; more are no list that a model can use. */
export const MAX_MCP_TOOLS = 200;
const MAX_DESCRIPTION = 4_000;
const MAX_SCHEMA_CHARACTERS = 32_768;
const MAX_SCHEMA_DEPTH = 12;
/** As the protocol has it, without what would be another path segment. */
const TOOL_NAME = /^[A-Za-z0-9_.-]{1,100}$/;
/** What says which arguments there are. Identifiers would make a schema one of others. */
const KEYWORDS = [
  'properties',
  'required',
  'additionalProperties',
  '$defs',
  'definitions',
  'anyOf',
  'oneOf',
  'allOf',
];

/** A tool from `tools/list`; undefined for one that cannot be used: no name, or a schema beyond bounds. */
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

/** In JSON: NUL, and halves of surrogate pairs, which alone are escaped. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/;

/** Levels of objects and lists; looks no deeper than `most` and one. */
function depthOf(value: unknown, max: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (max < 0) return 1;
  let deepest = 0;
  for (const inner of Object.values(value)) deepest = Math.max(deepest, depthOf(inner, max - 1));
  return 1 + deepest;
}

/** What a second run would do: an admin's word first, then the server's where it is believed, else harm. */
export function mcpReplay(
  { replay, trust_hints }: Pick<McpServerConfig, 'replay' | 'trust_hints'>,
  { name, readOnlyHint, idempotentHint }: McpToolDefinition,
): AddedReplay {
  const text = Object.hasOwn(replay, name) ? replay[name] : undefined;
  if (text !== undefined) return text;
  if (!trust_hints) return 'once';
  return readOnlyHint ? 'readonly' : idempotentHint ? 'idempotent' : 'once';
}
