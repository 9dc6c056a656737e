/** The header `Retry-After` (RFC 9110, 10.2.3): seconds, or a date. */

/** Milliseconds from `now`, never negative; undefined if the value is neither. */
export function readRetryAfter(value: string | null | undefined, now: number): number | undefined {
  const written = value?.trim();
  if (!written) return undefined;
  const seconds = Number(written);
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(written) - now;
  return Number.isFinite(wait) ? Math.max(0, Math.ceil(wait)) : undefined;
}
