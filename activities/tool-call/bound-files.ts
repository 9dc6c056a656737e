/** Reads the workspace files that a call would run, so that an approval is bound to these bytes (AP-4). */
import { createHash } from 'node:crypto';
import { BOUND_FILES, type BoundFile, type FileState } from '#domain/approval/bound-file.ts';
import type { DocumentAccess } from '#domain/files/document.ts';
import { MOUNT } from '@tempoclaw/sandbox/settings';
import { sandboxOf, type SandboxSettings } from '#domain/sandbox.ts';
import { storableText } from '#domain/text/storable-text.ts';
import type { RuleScope } from '#policy/call-rules.ts';
import type { Tool } from '#policy/define-tool.ts';
import type { Scrubber } from '#store/secrets/scrubber.ts';
import { treeDigest } from '#store/files/tree-digest.ts';
import { FileProblem } from '../workspace/file-problem.ts';
import type { Files, FileScope } from '../workspace/contract.ts';
import { readTree } from '../workspace/read-tree.ts';
import type { WorkspaceOf } from '../workspace/workspace-folder.ts';

export interface BoundFileDeps {
  readonly files: Pick<Files, 'readBytes' | 'list' | 'hold'>;
  readonly workspaceOf: WorkspaceOf;
  readonly sandbox: SandboxSettings;
}

export interface BindingCall extends Pick<RuleScope, 'agent' | 'context'> {
  readonly tenant: string;
  readonly session: string;
  /** Version of the documents; null when there are none, undefined when unknown. */
  readonly documents?: string | null;
  readonly tool: Tool;
  /** Canonical arguments. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Scrubs paths, which are shown and stored. */
  readonly scrubber: Scrubber;
}

/**
 * The files in their present state, in the order in which the call names them. Bounded; never throws because of a file.
 */
export type ReadBoundFiles = (call: BindingCall) => Promise<readonly BoundFile[]>;

/** Stands in place of a path for the remaining files. */
const OTHERS = 'others';

export function createBoundFiles({ files, workspaceOf, sandbox }: BoundFileDeps): ReadBoundFiles {
  return async ({ tenant, session, documents, agent, context, tool, args, scrubber }) => {
    const named = tool.runsFiles?.(args);
    const box = sandboxOf(sandbox, agent.sandbox);
    // In a sandbox without the workspace it runs none of its files.
    if (!named || box?.workspace === 'none') return [];
    const { shows, ...workspace } = workspaceOf(tenant, agent, { ...context, session });
    const scope: FileScope = {
      ...workspace,
      idempotencyKey: '',
      mount: box === undefined ? undefined : MOUNT,
    };
    if (documents !== null) {
      const whose = { tenant, agent: agent.key, user: context.user ?? null, type: agent.type };
      await makeCopies(files, scope, { ...whose, ...UNWRITTEN, version: documents ?? '', shows });
    }
    const found: BoundFile[] = [];
    let remaining: number = BOUND_FILES.bytes;
    for (const name of named.paths.slice(0, BOUND_FILES.files)) {
      const path = inFolder(named.folder, name);
      const state = await stateOf(files, scope, path, Math.min(remaining, BOUND_FILES.bytesEach));
      const shown = storableText(scrubber.text(path));
      remaining -= 'bytes' in state ? state.bytes : 0;
      found.push({ path: shown, ...state });
    }
    if (named.tree !== undefined)
      found.push({
        path: storableText(scrubber.text(named.tree)),
        ...(await stateOfTree(files, scope, named.tree)),
      });
    const more = named.paths.length - BOUND_FILES.files;
    if (more > 0) found.push({ path: OTHERS, unbound: `it names ${more} more` });
    else if (named.open !== null) found.push({ path: OTHERS, unbound: named.open });
    return found;
  };
}

/** Nothing is written. */
const UNWRITTEN = { author: '', outside: () => ({}), hide: (text: string) => text };

/** The bound files are those that would run: documents are copied in their present state, as for the command itself. */
async function makeCopies(
  files: BoundFileDeps['files'],
  scope: FileScope,
  documents: DocumentAccess,
): Promise<void> {
  try {
    await (await files.hold({ ...scope, documents }, '.', 'search')).close();
  } catch (error) {
    // The check before the run finds other files than were shown, and asks again.
    if (!(error instanceof FileProblem)) throw error;
  }
}

function inFolder(folder: string | undefined, path: string): string {
  return folder === undefined || path.startsWith('/') ? path : `${folder}/${path}`;
}

async function stateOfTree(
  files: BoundFileDeps['files'],
  scope: FileScope,
  path: string,
): Promise<FileState> {
  try {
    const all = await readTree(files, scope, path);
    return { sha256: treeDigest(all), bytes: all.reduce((sum, { bytes }) => sum + bytes.length, 0) };
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    return { unbound: error.message };
  }
}

async function stateOf(
  files: BoundFileDeps['files'],
  scope: FileScope,
  path: string,
  max: number,
): Promise<FileState> {
  try {
    const bytes = await files.readBytes(scope, path, max);
    if (!bytes) return { unbound: 'it is too large' };
    return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    if (error.code === 'FileNotFound') return { missing: true };
    return { unbound: error.code === 'InvalidPath' ? NO_FILE : 'it may not be read' };
  }
}

const NO_FILE = 'it is outside of the workspace or no plain file';
