/**
 * Files of the workspace that an approval is bound to: the call runs them as they were when the approval was created
 * (AP-4).
 */

/** `missing`: the file did not exist; `unbound`: why its content cannot be determined. */
export type FileState =
  | { readonly sha256: string; readonly bytes: number }
  | { readonly missing: true }
  | { readonly unbound: string };

export type BoundFile = { readonly path: string } & FileState;

/** What a call's arguments say about the files that it runs. */
export interface RunFiles {
  /** Paths as the call writes them: absolute, or relative to the folder that it runs in. */
  readonly paths: readonly string[];
  /** Why the call may run other files, or null. */
  readonly open: string | null;
  /** The folder that the call runs in, relative to the workspace; the workspace itself when absent. */
  readonly folder?: string | undefined;
  /** A folder of the workspace that is passed on with all its files, and bound as one. */
  readonly tree?: string;
}

/** Limits for one call. */
export const BOUND_FILES = { files: 20, bytesEach: 4 * 1024 * 1024, bytes: 16 * 1024 * 1024 } as const;

/** How often people are asked about one call: files that change each time do not change by chance. */
export const MAX_ASKS = 3;

/**
 * The bound files in words for people; undefined when the call runs no file of the workspace. Missing files appear only
 * when there are no others.
 */
export function boundFilesWords(files: readonly BoundFile[]): string | undefined {
  if (files.length === 0) return undefined;
  const there = files.filter((file) => !('missing' in file));
  return (there.length > 0 ? there : files).map(fileText).join('; ');
}

function fileText(file: BoundFile): string {
  if ('missing' in file) return `${file.path} (not there yet)`;
  if ('unbound' in file) return `${file.path} (not bound: ${file.unbound})`;
  return `${file.path} (${file.bytes} bytes, sha256 ${file.sha256})`;
}

/** Paths of the files that have changed. */
export function changedFiles(before: readonly BoundFile[], now: readonly BoundFile[]): readonly string[] {
  const known = new Map(before.map((file) => [file.path, JSON.stringify(stateOf(file))]));
  const remaining = new Set(known.keys());
  const changed = now.filter((file) => {
    remaining.delete(file.path);
    return known.get(file.path) !== JSON.stringify(stateOf(file));
  });
  return [...changed.map(({ path }) => path), ...remaining];
}

/** Rows do not keep the order of keys. */
function stateOf(file: BoundFile): readonly unknown[] {
  if ('missing' in file) return ['missing'];
  return 'unbound' in file ? ['unbound', file.unbound] : [file.sha256, file.bytes];
}
