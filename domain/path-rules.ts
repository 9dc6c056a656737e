/** Which paths tools may use (VF-4). */
import type { ToolErrorCode } from './errors.ts';
export interface ExtraRoot {
  /** Absolute path; need not exist. */
  readonly path: string;
  readonly writable: boolean;
}

export interface PathRules {
  /** Relative to each root: neither readable, writable, searched nor listed. */
  readonly deniedPrefixes: readonly string[];
  /** Folders outside the workspace that may be used too (skills). */
  readonly extraRoots: readonly ExtraRoot[];
  /** False lets every path of the host through; for single-user installs whose owner asks for it. */
  readonly restrict: boolean;
}

/** Closed whatever the settings say: the state folder's name. */
const OWN_PREFIX = '.tempoclaw';

/** `denied_paths` of the settings unless given: GoClaw keeps its state in folders of this name. */
export const DEFAULT_DENIED_PATHS = ['.goclaw'];

/** What no tool reads, writes, lists or names in a command; `more` are the settings' own. */
export function deniedPrefixes(more: readonly string[] = DEFAULT_DENIED_PATHS): readonly string[] {
  return [OWN_PREFIX, ...more];
}

export const DEFAULT_PATH_RULES: PathRules = {
  deniedPrefixes: deniedPrefixes(),
  extraRoots: [],
  restrict: true,
};

/** `cwd` is the folder that a command runs in. */
export const PATH_OPS = ['read', 'list', 'search', 'write', 'edit', 'delete', 'cwd'] as const;
export type PathOp = (typeof PATH_OPS)[number];

export interface PathVerdict {
  readonly decision: 'allow' | 'deny';
  /** Without links; when allowed. */
  readonly resolved?: string;
  /** The tool's error code; `Truncated` for a file of which a tool gives a page only; null else. */
  readonly code: ToolErrorCode | 'Truncated' | null;
  readonly reason: string;
}

/** What a tool would do with the path, without doing it. `workspace` is an existing folder. */
export type JudgePath = (
  rules: PathRules,
  workspace: string,
  path: string,
  op: PathOp,
) => Promise<PathVerdict>;
