/**
 * Cursor pages: `{data, has_more, next_cursor}`. A cursor is opaque to callers and contains the sort keys of the last
 * row.
 */
import { Failure } from '#domain/errors.ts';

export interface Page<Item> {
  data: Item[];
  has_more: boolean;
  next_cursor: string | null;
}

export interface PageQuery {
  readonly limit: number;
  readonly after?: string | undefined;
  readonly cursor?: string | undefined;
}

export type CursorKeys = readonly (string | number)[];

/** Reads one row more than the page has, so that `has_more` is known. `read` gets `keys` back for the next page. */
export async function readPage<Row, Item = Row>(
  query: PageQuery,
  read: (limit: number, after: CursorKeys | undefined) => Promise<readonly Row[]>,
  keys: (row: Row) => CursorKeys,
  isValid: (keys: CursorKeys) => boolean,
  show: (row: Row) => Item = asItIs,
): Promise<Page<Item>> {
  const rows = await read(query.limit + 1, decodeCursor(query.after ?? query.cursor, isValid));
  const shown = rows.slice(0, query.limit);
  const last = shown.at(-1);
  const more = rows.length > query.limit && last !== undefined;
  return { data: shown.map(show), has_more: more, next_cursor: more ? encodeCursor(keys(last)) : null };
}

const asItIs = <Row, Item>(row: Row): Item => row as unknown as Item;

function encodeCursor(keys: CursorKeys): string {
  return Buffer.from(JSON.stringify(keys)).toString('base64url');
}

function decodeCursor(
  cursor: string | undefined,
  isValid: (keys: CursorKeys) => boolean,
): CursorKeys | undefined {
  if (cursor === undefined || cursor === '') return undefined;
  const keys = parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  const wellMade =
    Array.isArray(keys) && keys.every((key) => typeof key === 'string' || typeof key === 'number');
  if (!wellMade || keys.some((key) => typeof key === 'string' && key.includes('\0')) || !isValid(keys))
    throw new Failure('InvalidInput', 'after: not a next_cursor of this list', {
      errors: [{ pointer: 'query/after', message: 'not a next_cursor of this list' }],
    });
  return keys;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // This is not a cursor of ours; the caller refuses it with the right words.
    return undefined;
  }
}

/** Sort keys [time, id] with the time as Postgres wrote it, as text or in JSON. */
export function isTimeKeys(keys: CursorKeys): keys is readonly [string, string] {
  return (
    keys.length === 2 &&
    typeof keys[0] === 'string' &&
    /^\d{4,6}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d(:\d\d)?$/.test(keys[0]) &&
    typeof keys[1] === 'string'
  );
}

export function isTextKey(keys: CursorKeys): keys is readonly [string] {
  return keys.length === 1 && typeof keys[0] === 'string';
}

export function isNumberKeys(length: number): (keys: CursorKeys) => boolean {
  return (keys) => keys.length === length && keys.every((key) => Number.isSafeInteger(key));
}

/** `readPage` where rows are sorted by one text, their field `key`; `after` is '' before the first page. */
export function readTextPage<Key extends string, Row extends Readonly<Record<Key, string>>, Item = Row>(
  query: PageQuery,
  key: Key,
  read: (limit: number, after: string) => Promise<readonly Row[]>,
  show?: (row: Row) => Item,
): Promise<Page<Item>> {
  const readAfter = (limit: number, after?: CursorKeys) => read(limit, String(after?.[0] ?? ''));
  return readPage(query, readAfter, (row) => [row[key]], isTextKey, show);
}

/** `readPage` where rows are sorted by a time, which `keys` returns with the row's id. */
export function readTimePage<Row, Item = Row>(
  query: PageQuery,
  read: (limit: number, after: readonly [time: string, id: string] | undefined) => Promise<readonly Row[]>,
  keys: (row: Row) => readonly [time: string, id: string],
  show?: (row: Row) => Item,
): Promise<Page<Item>> {
  const readAfter = (limit: number, after?: CursorKeys) =>
    read(limit, after && isTimeKeys(after) ? after : undefined);
  return readPage(query, readAfter, keys, isTimeKeys, show);
}

/** `readTimePage` where rows are sorted by the time at which they were made. */
export function readCreatedPage<Row extends Readonly<Record<'created_text' | 'id', string>>, Item = Row>(
  query: PageQuery,
  read: (limit: number, after: readonly [time: string, id: string] | undefined) => Promise<readonly Row[]>,
  show?: (row: Row) => Item,
): Promise<Page<Item>> {
  return readTimePage(query, read, (row) => [row.created_text, row.id], show);
}
