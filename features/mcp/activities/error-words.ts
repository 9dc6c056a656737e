/** Describes errors of an MCP server in words. */
import { isRecord } from '#domain/outside-value.ts';
import { parseBeginning } from './cut-message.ts';

/** Characters that are shown of what a server or an error says. */
export const WORDS = 500;
/** Characters that are read: an error may contain a whole answer. */
const MAX_WORDS = 100_000;

/**
 * The error in one line; the innermost cause says most. Secrets are hidden before the cut, which could leave half of
 * one.
 */
export function errorText(error: unknown, hide: (text: string) => string): string {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  const words = inner instanceof Error ? inErrorBody(inner.message) : String(inner);
  return hide(words.slice(0, MAX_WORDS)).replace(/\s+/g, ' ').slice(0, WORDS);
}

/** A refusal over HTTP may contain an error of the protocol, whose words are the useful ones. */
function inErrorBody(message: string): string {
  const [all, body] = /^Error POSTing to endpoint: (\{[^]{0,100000})$/.exec(message) ?? [];
  if (all === undefined || body === undefined) return message;
  const read = parseBeginning(body);
  const error = isRecord(read) ? read['error'] : undefined;
  return isRecord(error) && typeof error['message'] === 'string' ? error['message'] : message;
}
