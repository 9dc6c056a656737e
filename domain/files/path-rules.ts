/** Which paths tools may use (VF-4). */
import type { ToolErrorCode } from '../errors.ts';
export interface ExtraRoot {
  /** Absolute path; need not exist. */
  readonly path: string;
  readonly writable: boolean;
}

export interface PathRules {
  /** Paths relative to each root that tools can neither read, write, search nor list. */
  readonly deniedPrefixes: readonly string[];
  /** Folders outside the workspace that tools may use too (skills). */
  readonly extraRoots: readonly ExtraRoot[];
  /** False permits every path of the host, for single-user installations whose owner wants that. */
  readonly restrict: boolean;
}

/** The name of the state folder, which is always denied. */
const OWN_PREFIX = '.tempoclaw';

/** The default of `denied_paths` in the settings: GoClaw keeps its state in folders of this name. */
export const DEFAULT_DENIED_PATHS = ['.goclaw'];

/** Paths that no tool reads, writes, lists or names in a command; `more` comes from the settings. */
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
  /** The path with links resolved, when it is allowed. */
  readonly resolved?: string;
  /** The tool's error code, `Truncated` for a file of which a tool returns one page only, or null. */
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
