/**
 * Repairs a message of an MCP server that nearly follows the protocol. An unreadable answer ends its request at once,
 * in words, instead of being ignored until the timeout.
 */
import { type Fields, isRecord } from '#domain/outside-value.ts';

/** Levels of arrays and objects: the code that checks a message recurses at each. */
const DEPTH = 200;
/** A JSON-RPC code. */
const PARSE_ERROR = -32_700;
const INTERNAL_ERROR = -32_603;

/** A text that is no message stays as it is: programs print greetings, and other documents come over HTTP. */
export function readableMessage(text: string): string {
  const plain = text.startsWith('\ufeff') ? text.slice(1) : text;
  if (!/^\s*[[{]/.test(plain)) return plain;
  let value: unknown;
  try {
    value = JSON.parse(plain);
  } catch {
    return unreadable(plain);
  }
  const isCut = cutDepth(value);
  const read = Array.isArray(value) ? value.map(readableValue) : readableValue(value);
  const isSame =
    !isCut &&
    (Array.isArray(read) ? read.every((one, at) => one === (value as unknown[])[at]) : read === value);
  return isSame ? plain : JSON.stringify(read);
}

function readableValue(message: unknown): unknown {
  if (!isRecord(message)) return message;
  const { id, method } = message;
  if (typeof method === 'string') return withVersion(message);
  const isOurs = ['jsonrpc', 'result', 'error'].some((name) => name in message);
  return isOurs && (typeof id === 'number' || typeof id === 'string') ? readableAnswer(message, id) : message;
}

const withVersion = (message: Fields): Fields =>
  message['jsonrpc'] === '2.0' ? message : { ...message, jsonrpc: '2.0' };

function readableAnswer(message: Fields, id: number | string): Fields {
  const { result, error } = message;
  if (error === undefined)
    return isRecord(result)
      ? withVersion(message)
      : answer(id, { error: { code: INTERNAL_ERROR, message: 'the answer holds no result' } });
  return isError(error) && !('result' in message)
    ? withVersion(message)
    : answer(id, { error: errorOf(error) });
}

const answer = (id: number | string, of: Fields): Fields => ({ jsonrpc: '2.0', id, ...of });

const isError = (error: unknown): boolean =>
  isRecord(error) && Number.isSafeInteger(error['code']) && typeof error['message'] === 'string';

function errorOf(value: unknown): Fields {
  const { code, message = value }: Fields = isRecord(value) ? value : {};
  const words = typeof message === 'string' ? message : JSON.stringify(message);
  return { code: Number.isSafeInteger(code) ? code : INTERNAL_ERROR, message: words };
}

/** An error for what begins as an answer to a request of ours. */
function unreadable(text: string): string {
  const head = text.slice(0, 1_000);
  const [, number, name] = /"id"\s*:\s*(?:(\d{1,15})|"([\w.:-]{1,100})")/.exec(head) ?? [];
  if (!/"jsonrpc"/.test(head) || /"method"/.test(head) || (number ?? name) === undefined) return text;
  const error = { code: PARSE_ERROR, message: 'the answer cannot be read: it is no JSON' };
  return JSON.stringify(answer(number === undefined ? String(name) : Number(number), { error }));
}

/** Works level by level, because it may be as deep as it is long. Returns true when something was removed. */
function cutDepth(value: unknown): boolean {
  let level = [value].filter(isObject);
  for (let depth = 0; depth < DEPTH && level.length > 0; depth += 1)
    level = level.flatMap((holder) => Object.values(holder).filter(isObject));
  for (const holder of level)
    for (const [key, inner] of Object.entries(holder))
      if (isObject(inner)) holder[key] = '[nested too deeply]';
  return level.length > 0;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
