/** Why a file could not be used, in words for the model. Only this module maps errno to tool errors. */
import type { ToolErrorCode } from '#domain/errors.ts';
import { type ToolFailure, type ToolResult, toolError } from '#domain/tool.ts';
import { isTransient } from '#store/postgres/pool.ts';

/** Thrown by functions that read and write files and media; tools convert it to a value with `withFileProblems`. */
export class FileProblem extends Error {
  override readonly name = 'FileProblem';
  readonly code: ToolErrorCode;

  constructor(code: ToolErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

const WORDS: Readonly<Record<string, readonly [ToolErrorCode, string]>> = {
  ENOENT: ['FileNotFound', 'there is no such file or folder'],
  ENOTDIR: ['FileNotFound', 'a part of the path is a file, not a folder'],
  EISDIR: ['InvalidPath', 'it is a folder, not a file'],
  ELOOP: ['InvalidPath', 'it became a symbolic link while it was opened, or links go round in circles'],
  ENXIO: ['InvalidPath', 'it is not a regular file'],
  ENAMETOOLONG: ['InvalidPath', 'the name is too long'],
  EINVAL: ['InvalidPath', 'the system does not accept this name'],
  EACCES: ['PermissionDenied', 'the system does not allow it'],
  EPERM: ['PermissionDenied', 'the system does not allow it'],
  EROFS: ['PermissionDenied', 'the file system is read-only'],
  ETXTBSY: ['ExecutionFailed', 'it is being executed'],
  ENOSPC: ['ExecutionFailed', 'no space is left on the device; the file is as it was before'],
  EDQUOT: ['ExecutionFailed', 'the disk quota is used up; the file is as it was before'],
  EFBIG: ['ExecutionFailed', 'the file would be larger than the system allows; it is as it was before'],
  EMFILE: ['ExecutionFailed', 'too many files are open; try again'],
  ENFILE: ['ExecutionFailed', 'too many files are open; try again'],
};

export function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** `doing` is a phrase such as `failed to read file`; `path` is shown as the model wrote it, never the host's path. */
export function fileProblem(error: unknown, doing: string, path: string): FileProblem {
  if (error instanceof FileProblem) return error;
  // Of Postgres, which says who has the file, and not of the file: the call may run again.
  if (isTransient(error)) throw error;
  const errno = errnoOf(error);
  if (errno === undefined) throw error;
  const [code, words] = WORDS[errno] ?? (['ExecutionFailed', `the system answered ${errno}`] as const);
  return new FileProblem(code, `${doing} ${shown(path)}: ${words}`);
}

/** One line, at most 200 characters, control characters made visible. */
export function shown(path: string): string {
  const plain = [...path].map((c) => (c < ' ' || c === '\u007f' ? '\ufffd' : c)).join('');
  return plain.length > 200 ? `${plain.slice(0, 197)}...` : plain;
}

/** Runs `work` and returns a FileProblem as the tool's result; other errors are rethrown. */
export async function withFileProblems<Result = ToolResult>(
  work: () => Promise<Result>,
): Promise<Result | ToolFailure> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FileProblem) return toolError(error.code, error.message);
    throw error;
  }
}
