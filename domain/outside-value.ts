/** Checks values from outside, for code that workflows bundle, which must not include zod. */

export type Fields = Readonly<Record<string, unknown>>;

/** An object with fields; a list is not one. */
export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads a field of a record whose names come from outside, without the fields that every object inherits. */
export function fieldOf<Value>(
  record: Readonly<Record<string, Value>> | undefined,
  name: string | undefined,
): Value | undefined {
  return record !== undefined && name !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Removes fields that are null, which some senders use for absent. */
export function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );
}

/** A whole number of 1 or more. */
export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

/**
 * A text that a row can store, of at most so many characters (code points, as `preview` counts them). A text that a row
 * cannot store would stop its workflow permanently.
 */
export function isText(value: unknown, max: number): value is string {
  return typeof value === 'string' && fitsCount(value, max) && isStorable(value);
}

/** A character has at most two UTF-16 units, so longer text is not counted. */
function fitsCount(text: string, limit: number): boolean {
  return text.length <= limit || (text.length <= 2 * limit && Array.from(text).length <= limit);
}

/** Postgres refuses NUL, and half of a surrogate pair is not a character. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}
