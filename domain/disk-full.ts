/** One question that several layers ask of an error: was there no room left to write? */

/** As the system says it, for a disk and for a quota, and as Postgres does (SQLSTATE disk_full). */
const CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', '53100']);

export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && CODES.has(error.code);
}
