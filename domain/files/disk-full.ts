/** Recognizes the errors that mean that no space is left to write; several layers use it. */

/** Codes of the system for a full disk and an exceeded quota, and of Postgres (SQLSTATE disk_full). */
const CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', '53100']);

export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && CODES.has(error.code);
}
