/** Scrubs a JSON value recursively: every text in it, and values under names that contain secrets. */
import { applyRedactions, REDACTED } from './redaction.ts';
import { NO_VALUES, type RegisteredValues } from './registered-values.ts';
import { scrubText } from './scrub-text.ts';
import { secretNameOf } from './secret-names.ts';
import { secretParts } from './secret-parts.ts';

/** Deeper values are replaced whole: real values are flatter, and recursion must end. */
const MAX_DEPTH = 64;
/** Longer names and values do not belong to a secret. */
const MAX_NAME = 96;
const MAX_VALUE = 16_384;
/** `["--password", "…"]`: the previous item names the value. */
const OPTION = /^--?([A-Za-z][\w-]{1,60})$/;
const NAME_KEYS = ['name', 'key', 'id', 'variable'];
/** The scheme before the credential of an `Authorization` header. */
const SCHEME = /^(?:bearer|basic|token|bot)\s{1,4}/i;

/** The structure stays; only texts (and texts used as keys) change. Values other than JSON are unchanged. */
export function scrubJson<Value>(value: Value, registered: RegisteredValues = NO_VALUES): Value {
  const walk = (node: unknown, name: string | undefined, depth: number): unknown => {
    if (typeof node === 'string') return scrubText(withoutNamed(name, node), registered).text;
    if (typeof node !== 'object' || node === null) return node;
    if (depth >= MAX_DEPTH) return REDACTED;
    if (Array.isArray(node))
      return node.map((item: unknown, at) => walk(item, optionBefore(node, at) ?? name, depth + 1));
    const pairName = nameOfPair(node);
    return Object.fromEntries(
      Object.entries(node).map(([key, item]) => [
        scrubText(key, registered).text,
        walk(item, key === 'value' ? (pairName ?? key) : key, depth + 1),
      ]),
    );
  };
  return walk(value, undefined, 0) as Value;
}

/** `["--password", "…"]`, and a header as a pair. */
function optionBefore(list: readonly unknown[], at: number): string | undefined {
  const before = list[at - 1];
  if (typeof before !== 'string') return undefined;
  return OPTION.exec(before)?.[1] ?? (list.length === 2 ? before : undefined);
}

/** `{ "name": "DB_PASSWORD", "value": "…" }` */
function nameOfPair(node: object): string | undefined {
  if (!('value' in node)) return undefined;
  const found = NAME_KEYS.map((key) => (node as Readonly<Record<string, unknown>>)[key]);
  return found.find((name) => typeof name === 'string');
}

/** The form that the same pair would have in a JSON file. */
function withoutNamed(name: string | undefined, text: string): string {
  if (name === undefined || name.length > MAX_NAME || text.length > MAX_VALUE) return text;
  const secret = secretNameOf(name);
  if (!secret) return text;
  const scheme = SCHEME.exec(text)?.[0] ?? '';
  const shape = { quoted: true, spaced: false, wholeLine: true, scheme: scheme !== '' };
  const parts = secretParts(text.slice(scheme.length), secret, shape);
  return applyRedactions(
    text,
    parts.map(({ start, end }) => ({
      start: start + scheme.length,
      end: end + scheme.length,
      kind: 'named_secret',
    })),
  ).text;
}
