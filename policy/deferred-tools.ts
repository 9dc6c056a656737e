/**
 * Tools that a prompt does not describe at first, because an agent has more than most turns need. They can be called
 * like all others, and `tool_search` returns their parameters. Tools that it has found are described from then on.
 */
import type { ToolDialect } from '#domain/agent.ts';
import type { ChatMessage } from '#domain/turn/message.ts';
import { CLIENT_GROUP, CUSTOM_GROUP, type ToolGroup } from '#domain/policy/tool-groups.ts';
import type { Catalog } from './catalog.ts';
import type { Tool } from './define-tool.ts';

export const TOOL_SEARCH = 'tool_search';

/** Greatest number of described tools of MCP servers. */
const MAX_OF_SERVERS = 40;
/** An agent with at most this many of our tools has all of them described. */
const FEW = 16;
/** Greatest number of found and used tools that are described too; the newest. */
const MAX_FOUND = 40;

export interface PromptTools {
  /** Canonical names, in the order of registration. */
  readonly described: readonly string[];
  /**
   * The same in each step of a session, whatever it has found, so that the text with their names stays the same for
   * providers' caches.
   */
  readonly deferred: readonly string[];
}

export interface PromptNeeds {
  /** Groups that the turn is about: all of their tools are described. */
  readonly groups: readonly ToolGroup[];
  readonly dialect: ToolDialect;
  /** The transcript as far as the model reads it. */
  readonly messages: readonly ChatMessage[];
}

/** Of the tools that an agent may call, those that its prompt describes. Deterministic. */
export function promptTools(
  catalog: Catalog,
  offered: readonly string[],
  { groups, dialect, messages }: PromptNeeds,
): PromptTools {
  const tools = offered.flatMap((name) => catalog.find(name)?.tool ?? []);
  const ofServers = tools.flatMap(({ name, mcp }) => (mcp ? [name] : [])).toSorted();
  const beyond = new Set(ofServers.slice(MAX_OF_SERVERS));
  const hasMany = tools.length - ofServers.length > FEW;
  const waits = ({ name, mcp, common, group }: Tool): boolean => {
    if (mcp) return beyond.has(name);
    const isNeeded = common || name === TOOL_SEARCH || groups.some((needed) => needed === group);
    return hasMany && !isNeeded && group !== CUSTOM_GROUP && group !== CLIENT_GROUP;
  };
  const deferred = offered.includes(TOOL_SEARCH) ? tools.filter(waits).map(({ name }) => name) : [];
  if (deferred.length === 0) return { described: offered.filter((name) => name !== TOOL_SEARCH), deferred };
  const found = foundIn(catalog.in(dialect), messages);
  const hidden = new Set(deferred.filter((name) => !found.has(name)));
  return { described: offered.filter((name) => !hidden.has(name)), deferred };
}

/** A line in the answer of `tool_search`. */
export function toolLine(name: string): string {
  return `tool: ${name}`;
}

/** Canonical names of the tools that a search has returned or that were called. */
function foundIn(catalog: Catalog, messages: readonly ChatMessage[]): ReadonlySet<string> {
  const own = (name: string): string => catalog.find(name)?.tool.name ?? '';
  const found = new Set<string>();
  for (const message of messages.toReversed()) {
    if (found.size >= MAX_FOUND) break;
    for (const name of namesIn(message, (of) => own(of) === TOOL_SEARCH)) found.add(own(name));
  }
  return found;
}

function namesIn(message: ChatMessage, isSearch: (name: string) => boolean): readonly string[] {
  if (message.role === 'user') return [];
  if (message.role === 'assistant') return message.calls.map(({ name }) => name);
  const answers = message.results.filter(({ name }) => isSearch(name));
  return answers.flatMap(({ text }) =>
    Array.from(text.matchAll(/^tool: (\S+)$/gm), ([, name]) => name ?? ''),
  );
}

/** Part of the system prompt; undefined when nothing is deferred. */
export function deferredGuide(
  catalog: Catalog,
  { deferred }: PromptTools,
  dialect: ToolDialect,
): string | undefined {
  if (deferred.length === 0) return undefined;
  const isOurs = (name: string): boolean => catalog.find(name)?.tool.mcp === undefined;
  const ours = catalog.offer(dialect, deferred.filter(isOurs)).map(({ name }) => name);
  const others = deferred.length - ours.length;
  const all = [...ours, ...(others > 0 ? [`${others} of MCP servers`] : [])].join(', ');
  const search = catalog.offer(dialect, [TOOL_SEARCH])[0]?.name ?? TOOL_SEARCH;
  return `You have more tools than are described to you: ${all}. Before you use one of them, or when no other tool does what you need, look for it with ${search}: it says what each does and takes.`;
}
