/**
 * Handles a message of an MCP server that is longer than we read: its beginning becomes a whole message that says so. A
 * call whose result is too long thus gets its beginning, and the connection stays.
 */
import { isRecord } from '#domain/outside-value.ts';

/** `bytes` is the size of the whole message. Returns undefined if it answers no request, or does not say which. */
export function cutMessage(head: string, tail: string, bytes: number): object | undefined {
  const message = parseBeginning(head);
  if (!isRecord(message)) return undefined;
  const { result, error } = message;
  const id = message['id'] ?? idAtEnd(tail);
  if (id === undefined) return undefined;
  if (isRecord(error)) return { jsonrpc: '2.0', id, error: shortError(error) };
  if (!isRecord(result)) return undefined;
  return { jsonrpc: '2.0', id, result: isListing(result) ? result : withNote(result, bytes) };
}

const ID_AT_END = /"id"\s*:\s*(?:(\d{1,15})|"([\w.:-]{1,100})")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/** Some servers write the id last. */
function idAtEnd(tail: string): number | string | undefined {
  const [, number, name] = ID_AT_END.exec(tail) ?? [];
  return number === undefined ? name : Number(number);
}

const isListing = (result: Readonly<Record<string, unknown>>): boolean => Array.isArray(result['tools']);

/** Characters before the cut that are also removed, because half of a secret could not be told from other text. */
const EDGE = 4_096;

function shortError({ code, message }: Readonly<Record<string, unknown>>): object {
  return { code, message: String(message).slice(0, -EDGE) };
}

/** The last item was cut, and half of an image or of a file is useless. */
function withNote(result: Readonly<Record<string, unknown>>, bytes: number): object {
  const values = Array.isArray(result['content']) ? result['content'] : [];
  const last: unknown = values.at(-1);
  const holder = isRecord(last) && isRecord(last['resource']) ? last['resource'] : last;
  const text = isRecord(holder) && typeof holder['text'] === 'string' ? holder['text'] : '';
  const cut = text.length > EDGE ? [{ type: 'text', text: text.slice(0, -EDGE) }] : [];
  const content = [...values.slice(0, -1), ...cut];
  const note = `[the answer has ${bytes} bytes, more than are read; the rest is left out]`;
  return { ...result, content: [...content, { type: 'text', text: note }] };
}

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' };

/**
 * The value at the beginning of a JSON text, closed where the text ends, also within a string. Returns undefined when
 * it is no JSON.
 */
export function parseBeginning(text: string): unknown {
  // What closes it, at `end` and from there on: each change of one is a place of the other.
  const open: string[] = [];
  let end = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '"') {
      const last = endOfString(text, at);
      // A value's text is kept as far as it goes; a name without its value is not.
      if (last === undefined)
        return isValue(text, at) ? parsed(`${cutString(text)}"`, open) : parsed(text.slice(0, end), open);
      at = last;
    } else if (character in CLOSING) {
      open.push(CLOSING[character] ?? '');
      end = at + 1;
    } else if (character === '}' || character === ']') {
      if (open.pop() !== character) return undefined;
      end = at + 1;
    } else if (character === ',') end = at;
  }
  return parsed(text.slice(0, end), open);
}

function parsed(beginning: string, open: readonly string[]): unknown {
  try {
    return JSON.parse(beginning + open.toReversed().join(''));
  } catch {
    return undefined;
  }
}

/** The position of its closing quote; undefined when it is missing. */
function endOfString(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return undefined;
}

/** True after a colon, or in a list. */
function isValue(text: string, start: number): boolean {
  return /[:[]\s*$/.test(text.slice(Math.max(0, start - 20), start));
}

/** Removes half of an escape at its end. */
function cutString(text: string): string {
  const backslashes = /\\+$/.exec(text)?.[0].length ?? 0;
  return backslashes % 2 === 1
    ? text.slice(0, -1)
    : text.replace(/(?<!\\)((?:\\\\)*)\\u[0-9a-fA-F]{0,3}$/, '$1');
}
