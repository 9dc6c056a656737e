/** Files of the workspace that an approval is bound to: what the call runs is what was there when it was asked about (AP-4). */

/** `missing`: it was not there; `unbound`: why nobody can say what it holds. */
export type FileState =
  | { readonly sha256: string; readonly bytes: number }
  | { readonly missing: true }
  | { readonly unbound: string };

export type BoundFile = { readonly path: string } & FileState;

/** What a call says of the files that it runs. */
export interface RunFiles {
  /** As the call names them: relative to the folder that it runs in, or absolute. */
  readonly paths: readonly string[];
  /** Why there may be others, or null. */
  readonly open: string | null;
  /** That the call runs in, from the workspace; the workspace itself unless given. */
  readonly folder?: string | undefined;
  /** A folder of the workspace that is handed on with all its files: bound as one. */
  readonly tree?: string;
}

/** Of one call. */
export const BOUND_FILES = { files: 20, bytesEach: 4 * 1024 * 1024, bytes: 16 * 1024 * 1024 } as const;

/** How often a call is asked about: files that change each time are no work of chance. */
export const MAX_ASKS = 3;

/** For people; undefined when the call runs no file of the workspace. What is not there is only told where nothing is. */
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

/** Paths of those that are not as they were. */
export function changedFiles(before: readonly BoundFile[], now: readonly BoundFile[]): readonly string[] {
  const known = new Map(before.map((file) => [file.path, JSON.stringify(stateOf(file))]));
  const remaining = new Set(known.keys());
  const changed = now.filter((file) => {
    remaining.delete(file.path);
    return known.get(file.path) !== JSON.stringify(stateOf(file));
  });
  return [...changed.map(({ path }) => path), ...remaining];
}

/** Rows keep no order of keys. */
function stateOf(file: BoundFile): readonly unknown[] {
  if ('missing' in file) return ['missing'];
  return 'unbound' in file ? ['unbound', file.unbound] : [file.sha256, file.bytes];
}
