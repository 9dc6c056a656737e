/** Makes text storable in rows and JSON: Postgres refuses NUL, and half of a surrogate pair is not a character. */

const REPLACEMENT = '\uFFFD';

export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', REPLACEMENT);
}

/** The same for all texts and keys of a JSON value. */
export function storableJson<T>(value: T): T {
  return mapTexts(value, storableText);
}

/** Returns a JSON value with its texts and keys changed. */
export function mapTexts<T>(value: T, change: (text: string) => string): T {
  const changed = (inner: unknown): unknown => {
    if (typeof inner === 'string') return change(inner);
    if (Array.isArray(inner)) return inner.map(changed);
    if (typeof inner !== 'object' || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).map(([key, item]) => [change(key), changed(item)]));
  };
  return changed(value) as T;
}
