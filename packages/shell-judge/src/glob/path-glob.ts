/**
 * Globs for relative paths, in time linear in pattern times path. A model's pattern must not be able to block the
 * worker, as a backtracking regular expression can. `*` `?` `[a-z]` `{a,b}` and `**` for any folders.
 */
import { matchSequence } from './match-glob.ts';

/** More alternatives than any person writes. */
const MAX_ALTERNATIVES = 256;

/** Returns a matcher, or a text that says what is wrong with the pattern. */
export function compileGlob(pattern: string): ((path: string) => boolean) | string {
  const alternatives = expandBraces(pattern.replace(/^(\.\/)+/, ''));
  if (typeof alternatives === 'string') return alternatives;
  const compiled: (readonly Segment[])[] = [];
  for (const alternative of alternatives) {
    const segments = alternative
      .split('/')
      .filter((part) => part !== '' && part !== '.')
      .map(compileSegment);
    const fault = segments.find((segment) => typeof segment === 'string');
    if (typeof fault === 'string') return fault;
    compiled.push(segments as Segment[]);
  }
  return (path) => {
    const parts = path.split('/');
    return compiled.some((segments) =>
      matchSequence(segments, parts, (segment) => segment === null, matchSegment),
    );
  };
}

type Token = { readonly any: true } | { readonly test: (character: string) => boolean };
/** Null means `**`, any number of folders. */
type Segment = { readonly tokens: readonly Token[] } | null;

function compileSegment(text: string): Segment | string {
  if (text === '**') return null;
  if (text === '..') return 'a pattern may not leave its folder with ..';
  const tokens: Token[] = [];
  const characters = [...text];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] as string;
    if (character === '*') {
      if (characters[at - 1] !== '*') tokens.push({ any: true });
    } else if (character === '?') tokens.push({ test: () => true });
    else if (character === '[') {
      const close = characters.indexOf(']', at + 2);
      if (close < 0) return 'a [ is never closed; write [[] for the character itself';
      tokens.push({ test: characterClass(characters.slice(at + 1, close)) });
      at = close;
    } else {
      const literal = character === '\\' ? (characters[++at] ?? '\\') : character;
      tokens.push({ test: (other) => other === literal });
    }
  }
  return { tokens };
}

function characterClass(inside: readonly string[]): (character: string) => boolean {
  const negated = inside[0] === '!' || inside[0] === '^';
  const members = negated ? inside.slice(1) : inside;
  return (character) => {
    let found = false;
    for (let at = 0; at < members.length; at += 1) {
      const from = members[at] as string;
      const to = members[at + 1] === '-' ? members[at + 2] : undefined;
      if (to === undefined) found ||= character === from;
      else {
        found ||= character >= from && character <= to;
        at += 2;
      }
    }
    return found !== negated;
  };
}

function matchSegment(segment: Segment, part: string): boolean {
  if (segment === null) return true;
  return matchSequence(
    segment.tokens,
    [...part],
    (token) => 'any' in token,
    (token, character) => 'test' in token && token.test(character),
  );
}

/** Innermost first, so that nested braces produce all their combinations. */
function expandBraces(pattern: string): readonly string[] | string {
  let queue = [pattern];
  const done: string[] = [];
  while (queue.length > 0) {
    const next: string[] = [];
    for (const text of queue) {
      const found = /\{([^{}]*)\}/.exec(text);
      if (!found) {
        done.push(text);
        continue;
      }
      const before = text.slice(0, found.index);
      const after = text.slice(found.index + found[0].length);
      for (const choice of (found[1] ?? '').split(',')) next.push(before + choice + after);
    }
    if (done.length + next.length > MAX_ALTERNATIVES)
      return `the braces give more than ${MAX_ALTERNATIVES} patterns`;
    queue = next;
  }
  return done;
}
