/** Looks at what comes from outside, for code that workflows bundle: zod stays out of it. */

export type Fields = Readonly<Record<string, unknown>>;

/** An object with fields, which a list is not. */
export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Of a record whose names come from outside: not what every object has. */
export function fieldOf<Value>(
  record: Readonly<Record<string, Value>> | undefined,
  name: string | undefined,
): Value | undefined {
  return record !== undefined && name !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Null is sent for what is not given. */
export function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );
}

/** A whole number of 1 or more. */
export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

/** A text that a row can hold, of at most so many characters (code points, as `preview` counts them). What a row could not hold would stop its workflow for good. */
export function isText(value: unknown, max: number): value is string {
  return typeof value === 'string' && hasAtMost(value, max) && isStorable(value);
}

/** A character has at most two UTF-16 units: nothing longer is counted. */
function hasAtMost(text: string, limit: number): boolean {
  return text.length <= limit || (text.length <= 2 * limit && Array.from(text).length <= limit);
}

/** Postgres refuses NUL, and half of a surrogate pair is no character at all. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}
