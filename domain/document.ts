/**
 * VF-1, VF-2. Texts that are an agent's own, or one user's of it, and live in rows: the context files at the workspace's root, and
 * memory. A user's document stands before the agent's of the same path.
 */
import type { UsedTools } from './policy/used-tools.ts';

/** In the order of the prompt. */
export const CONTEXT_FILES = [
  'SOUL.md',
  'IDENTITY.md',
  'AGENTS.md',
  'TOOLS.md',
  'USER.md',
  'BOOTSTRAP.md',
  'HEARTBEAT.md',
] as const;

/** A user who empties it has it no more, whatever the agent's says (VF-1). */
export const BOOTSTRAP_FILE = 'BOOTSTRAP.md';

/** Made anew for each step from what the agent leads and is linked to; nobody writes them. */
export const GENERATED_FILES = ['DELEGATION.md', 'TEAM.md'] as const;

/** Below it every `.md` is memory, and the two files at the root. */
export const MEMORY_FOLDER = 'memory';
const MEMORY_FILES = ['MEMORY.md', 'memory.md'];

export const DOCUMENT_LIMITS = {
  /** Of a path, in bytes; folders below memory/ included. */
  path: 500,
  /** Of a text, in bytes. */
  bytes: 1_000_000,
  /** Of an agent and user together with those of the agent. */
  count: 2_000,
  /** Versions kept of each. */
  versions: 50,
} as const;

/** Tokens of the context files in a prompt, all together, at about four characters each (VF-1). */
export const CONTEXT_TOKENS = 10_000;

/** A subagent is a clone without a name: how to work and with what, and nothing of who talks to whom. */
export const SUBAGENT_FILES: readonly string[] = ['AGENTS.md', 'TOOLS.md'];

export type DocumentKind = 'context' | 'memory' | 'generated';

/**
 * What a path of the workspace's root, relative and without `.` and `..`, is a document of; undefined: a file like any other. Names are
 * those of the seeds, letter case and all.
 */
export function documentKind(path: string): DocumentKind | undefined {
  if ((CONTEXT_FILES as readonly string[]).includes(path)) return 'context';
  if ((GENERATED_FILES as readonly string[]).includes(path)) return 'generated';
  if (MEMORY_FILES.includes(path) || path.startsWith(`${MEMORY_FOLDER}/`)) return 'memory';
  return undefined;
}

/** Whose row: one user's, or the agent's own, which all of its users see until they have theirs. */
export interface DocumentScope {
  readonly tenant: string;
  readonly agent: string;
  /** Null: the agent's own. */
  readonly user: string | null;
  /** Of a predefined agent a user's context files count for nothing, but for USER.md. Open when absent. */
  readonly type?: AgentType | undefined;
}

export type AgentType = 'open' | 'predefined';

/** VF-1: what a turn may change. A predefined agent's context files are its owner's, but for USER.md, whoever began the turn. */
export function mayWriteInTurn(type: AgentType, path: string): boolean {
  const kind = documentKind(path);
  if (kind === 'generated' || kind === undefined) return false;
  return kind === 'memory' || type === 'open' || path === 'USER.md';
}

/** VF-1: the same of who writes directly; null: the agent's owner, whose scope the API asks for. */
export function mayWriteDocument(type: AgentType, path: string, user: string | null): boolean {
  return mayWriteInTurn(type, path) || (user === null && documentKind(path) === 'context');
}

/** Documents as the file tools of a call see them. */
export interface DocumentAccess extends DocumentScope {
  /** Null: the scope has none and never had. */
  readonly version: string | null;
  /** Whose stand in the workspace as files, for commands: those of the scope, the agent's own, nobody's. */
  readonly shows: 'user' | 'agent' | 'none';
  /** Who is shown as the author of what the call writes. */
  readonly author: string;
  /** What the session has read from outside (SC-4, PO-5): {} for nothing. */
  readonly outside: () => UsedTools;
  /** Takes secrets out of what is kept. */
  readonly hide: (text: string) => string;
  /** Called after the commit of each write. */
  readonly onWritten?: (path: string) => Promise<void>;
}

/** What is kept when the text is written: an agent's own BOOTSTRAP.md is gone when it is empty, a user's empty one hides it (VF-1). */
export function keptText(path: string, user: string | null, text: string): string | null {
  return path === BOOTSTRAP_FILE && user === null && text === '' ? null : text;
}

/** A path as rows have it: one that no other way of writing leads to. */
export function isDocumentPath(path: string): boolean {
  const kind = documentKind(path);
  if (kind !== 'memory' && kind !== 'context') return false;
  return path.split('/').every(isPlainPart) && !/\p{Cc}/u.test(path);
}

/** None that git would obey where it stands as a file either. */
function isPlainPart(part: string): boolean {
  return part !== '' && !part.startsWith('.') && part.toUpperCase() !== 'HEAD';
}
