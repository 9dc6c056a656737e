/**
 * VF-1, VF-2. Documents are texts in rows that belong to an agent or to one user of it: the context files at the
 * workspace's root, and memory. A user's document takes precedence over the agent's document of the same path.
 */
import type { UsedTools } from '../policy/used-tools.ts';

/** Names in the order of the prompt. */
export const CONTEXT_FILES = [
  'SOUL.md',
  'IDENTITY.md',
  'AGENTS.md',
  'TOOLS.md',
  'USER.md',
  'BOOTSTRAP.md',
  'HEARTBEAT.md',
] as const;

/** A user who empties it no longer has it, whatever the agent's own file contains (VF-1). */
export const BOOTSTRAP_FILE = 'BOOTSTRAP.md';

/** Generated for each step from the teams that the agent leads and its links; nobody can write them. */
export const GENERATED_FILES = ['DELEGATION.md', 'TEAM.md'] as const;

/** Below this folder every `.md` file is memory; so are two files at the root. */
export const MEMORY_FOLDER = 'memory';
const MEMORY_FILES = ['MEMORY.md', 'memory.md'];

export const DOCUMENT_LIMITS = {
  /** Bytes of a path, including folders below memory/. */
  path: 500,
  /** Bytes of a text. */
  bytes: 1_000_000,
  /** Number of documents of an agent and a user together, including the agent's own. */
  count: 2_000,
  /** Number of versions kept of each document. */
  versions: 50,
} as const;

/** Total tokens of the context files in a prompt, at about four characters each (VF-1). */
export const CONTEXT_TOKENS = 10_000;

/** A subagent is a clone without a name: it reads how to work and with what, but nothing about its users. */
export const SUBAGENT_FILES: readonly string[] = ['AGENTS.md', 'TOOLS.md'];

export type DocumentKind = 'context' | 'memory' | 'generated';

/**
 * Which kind of document a path of the workspace's root is; undefined for an ordinary file. The path is relative,
 * without `.` and `..`. Names must match those of the seeds exactly, including letter case.
 */
export function documentKind(path: string): DocumentKind | undefined {
  if ((CONTEXT_FILES as readonly string[]).includes(path)) return 'context';
  if ((GENERATED_FILES as readonly string[]).includes(path)) return 'generated';
  if (MEMORY_FILES.includes(path) || path.startsWith(`${MEMORY_FOLDER}/`)) return 'memory';
  return undefined;
}

/** The owner of a row: one user, or the agent itself, whose documents all users see until they have their own. */
export interface DocumentScope {
  readonly tenant: string;
  readonly agent: string;
  /** Null means the agent's own documents. */
  readonly user: string | null;
  /** Users' context files have no effect for a predefined agent, except USER.md. Absent means open. */
  readonly type?: AgentType | undefined;
}

export type AgentType = 'open' | 'predefined';

/**
 * VF-1: what a turn may change. Only the owner changes a predefined agent's context files, except USER.md, whoever
 * started the turn.
 */
export function mayWriteInTurn(type: AgentType, path: string): boolean {
  const kind = documentKind(path);
  if (kind === 'generated' || kind === undefined) return false;
  return kind === 'memory' || type === 'open' || path === 'USER.md';
}

/** VF-1: the same for direct writes. Null means the agent's owner, whose scope the API requires. */
export function mayWriteDocument(type: AgentType, path: string, user: string | null): boolean {
  return mayWriteInTurn(type, path) || (user === null && documentKind(path) === 'context');
}

/** Documents as the file tools of a call see them. */
export interface DocumentAccess extends DocumentScope {
  /** Null when the scope has and had no documents. */
  readonly version: string | null;
  /** Whose documents appear as files in the workspace, for commands: those of the scope, the agent's own, or none. */
  readonly shows: 'user' | 'agent' | 'none';
  /** The author that is shown for what the call writes. */
  readonly author: string;
  /** What the session has read from outside (SC-4, PO-5); {} when nothing. */
  readonly outside: () => UsedTools;
  /** Removes secrets from what is kept. */
  readonly hide: (text: string) => string;
  /** Called after the commit of each write. */
  readonly onWritten?: (path: string) => Promise<void>;
}

/**
 * What is kept when the text is written. An agent's own empty BOOTSTRAP.md is deleted; a user's empty one hides the
 * agent's (VF-1).
 */
export function keptText(path: string, user: string | null, text: string): string | null {
  return path === BOOTSTRAP_FILE && user === null && text === '' ? null : text;
}

/** Whether a path is in the canonical form of rows, so that no document has two paths. */
export function isDocumentPath(path: string): boolean {
  const kind = documentKind(path);
  if (kind !== 'memory' && kind !== 'context') return false;
  return path.split('/').every(isPlainPart) && !/\p{Cc}/u.test(path);
}

/** Rejects names that git would interpret when the document appears as a file. */
function isPlainPart(part: string): boolean {
  return part !== '' && !part.startsWith('.') && part.toUpperCase() !== 'HEAD';
}
