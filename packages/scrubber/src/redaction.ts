/** The reports of secret detectors, and how they become one replaced text. */

export const REDACTED = '[REDACTED]';

/** `[start, end)` in UTF-16 units. */
export interface Redaction {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
  /** `[REDACTED]` unless the value was registered with another placeholder. */
  readonly placeholder?: string;
}

export interface RedactionCount {
  readonly kind: string;
  readonly count: number;
}

/**
 * In order; overlapping reports become one (with the first one's placeholder), so that no tail of a longer secret
 * remains.
 */
export function mergeRedactions(redactions: readonly Redaction[]): readonly Redaction[] {
  const merged: Redaction[] = [];
  for (const next of [...redactions].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1);
    if (last && next.start < last.end) {
      if (next.end > last.end) merged[merged.length - 1] = { ...last, end: next.end };
    } else merged.push(next);
  }
  return merged;
}

export interface Redacted {
  readonly text: string;
  /** Counts of replacements by kind; empty when the text is unchanged. */
  readonly found: readonly RedactionCount[];
}

export function applyRedactions(text: string, redactions: readonly Redaction[]): Redacted {
  if (redactions.length === 0) return { text, found: [] };
  const counts = new Map<string, number>();
  const out: string[] = [];
  let at = 0;
  for (const { start, end, kind, placeholder = REDACTED } of mergeRedactions(redactions)) {
    out.push(text.slice(at, start), placeholder);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    at = end;
  }
  out.push(text.slice(at));
  return { text: out.join(''), found: [...counts].map(([kind, count]) => ({ kind, count })) };
}
