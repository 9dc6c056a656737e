/**
 * Secrets that only their name reveals: `password: "…"`, `API_KEY=…`, `"clientSecret":"…"`, `token => …`. It goes from
 * separator to separator and reads a bounded distance left (name) and right (value), so it is linear.
 */
import { type Value, valueAfter } from './read-value.ts';
import type { Redaction } from './redaction.ts';
import { type SecretName, secretNameOf } from './secret-names.ts';
import { secretParts } from './secret-parts.ts';

const MAX_NAME = 96;
/** Includes the fullwidth forms of Chinese and Japanese text. */
const SEPARATOR = /[:=：＝]/g;

export function findAssignments(text: string, out: Redaction[]): void {
  SEPARATOR.lastIndex = 0;
  for (let hit = SEPARATOR.exec(text); hit; hit = SEPARATOR.exec(text)) {
    const name = nameBefore(text, hit.index);
    if (!name) continue;
    const operator = expansion(text, hit.index);
    if (operator === 'message') continue;
    const value = valueAfter(text, operator === 'default' ? hit.index + 1 : hit.index);
    if (!value) continue;
    const shape = { ...value, wholeLine: name.startsLine && endsLine(text, value) };
    if (isCall(text, value)) continue;
    const kind = name.secret.kind === 'env' ? 'env_secret' : 'named_secret';
    const parts = secretParts(text.slice(value.start, value.end), name.secret, shape);
    for (const { start, end } of parts)
      out.push({ start: value.start + start, end: value.start + end, kind });
    // The rest of an address must still be read: its query may contain more.
    if (parts.length > 0 && name.secret.kind !== 'connection') SEPARATOR.lastIndex = value.end;
  }
}

interface FoundName {
  readonly secret: SecretName;
  readonly startsLine: boolean;
}

function nameBefore(text: string, separator: number): FoundName | undefined {
  const end = nameEnd(text, separator);
  const start = nameStart(text, end);
  if (start === end) return undefined;
  const name = text.slice(start, end);
  // The user of an address: `https://x-access-token:…@host`. Its password has a pattern.
  if (text[separator] === ':' && text.endsWith('://', start) && separator === end) return undefined;
  if (text[start - 1] === '/' && text[separator] === ':' && isMount(text, start, separator)) return undefined;
  const secret = secretNameOf(withWordBefore(text, start, name)) ?? typedName(text, separator, start);
  if (!secret) return undefined;
  // `arn:…:secret:name` and other paths with colons.
  if (
    text[separator] === ':' &&
    /[\w-]:$/.test(text.slice(Math.max(0, start - 2), start)) &&
    /\S/.test(text[separator + 1] ?? '')
  )
    return undefined;
  return { secret, startsLine: /(?:^|\n)[\t -]*["']?$/.test(text.slice(Math.max(0, start - 40), start)) };
}

/** `/etc/passwd:…` and `./db_password:/run/secrets/db_password:ro`: a file is before the colon. */
function isMount(text: string, start: number, separator: number): boolean {
  return text[separator + 1] === '/' || /\/etc\/passwd-?$/.test(text.slice(start - 5, separator));
}

const MARK_END = /(?:\*\*|<\/(?:b|strong|em|i|th|td|dt|label|span)>)$/i;

/**
 * Skips back over the rest of an operator (`?=`, `+=`, `||=`), blanks, Markdown's bold, the end of an element, a bracket, a quote and the backslashes
 * that escape it.
 */
function nameEnd(text: string, separator: number): number {
  let at = separator;
  if (text[separator] === '=') while (at > separator - 2 && /[?|+]/.test(text[at - 1] ?? '')) at--;
  const min = at - 4;
  while (at > min && /[ \t\u00a0\u3000]/.test(text[at - 1] ?? '')) at--;
  at -= MARK_END.exec(text.slice(Math.max(0, at - 9), at))?.[0].length ?? 0;
  if (text[at - 1] === ']') at--;
  if (/["'`”]/.test(text[at - 1] ?? '')) {
    at--;
    for (let remaining = 4; remaining > 0 && text[at - 1] === '\\'; remaining--) at--;
  }
  return at;
}

/** Skips back over letters, digits, `_`, `.` and `-`; a name starts with a letter or `_`. */
function nameStart(text: string, end: number): number {
  const first = Math.max(0, end - MAX_NAME);
  let at = end;
  while (at > first && isNameCharacter(text.charCodeAt(at - 1))) at--;
  while (at < end && !isNameBegin(text.charCodeAt(at))) at++;
  return at;
}

function isNameCharacter(code: number): boolean {
  return isNameBegin(code) || (code >= 48 && code <= 57) || code === 45 || code === 46;
}

function isNameBegin(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;
}

/** Two words form a name in a few cases: `api key`, `access token`, `API key provided`, but not `unexpected token`. */
function withWordBefore(text: string, start: number, name: string): string {
  if (text[start - 1] !== ' ' || !/^(?:key|token|secret|provided)$/i.test(name)) return name;
  const before = text.slice(Math.max(0, start - 32), start) + name;
  return TWO_WORDS.exec(before)?.[1] ?? name;
}

const TWO_WORDS =
  /(?<![\w-])((?:api|access|secret|private|auth|client|master|unexpected|unknown|next) (?:key|token|secret))(?: provided)?$/i;

/** `password: str = "…"`: the word before `=` is a type, and the name is before its colon. */
function typedName(text: string, separator: number, start: number): SecretName | undefined {
  if (text[separator] !== '=') return undefined;
  let colon = start - 1;
  while (colon > start - 4 && text[colon] === ' ') colon--;
  if (text[colon] !== ':') return undefined;
  const end = nameEnd(text, text[colon - 1] === '?' ? colon - 1 : colon);
  return secretNameOf(text.slice(nameStart(text, end), end));
}

/** `getToken(…)`: the code computes the secret. */
function isCall(text: string, value: Value): boolean {
  return (
    !value.quoted && text[value.end] === '(' && /^[A-Za-z_$][\w$.]*$/.test(text.slice(value.start, value.end))
  );
}

/** What follows the name in a shell's `${PASSWORD:-default}` and `${PASSWORD:?message}`. */
function expansion(text: string, separator: number): 'default' | 'message' | undefined {
  const operator = text[separator + 1] ?? '';
  if (text[separator] !== ':' || !/[-=?+]/.test(operator)) return undefined;
  if (!/\$\{\w{1,96}$/.test(text.slice(Math.max(0, separator - 98), separator))) return undefined;
  return operator === '-' || operator === '=' ? 'default' : 'message';
}

function endsLine(text: string, value: Value): boolean {
  return /^["']?[ \t]{0,8}(?:[\r\n]|$)/.test(text.slice(value.end, value.end + 12));
}
