/**
 * Tool names in the form that every provider accepts: letters, digits, `_` and `-`, starting with a letter or `_`, at
 * most 64. Names of MCP and custom tools may be longer or contain other characters, and a model may request an unknown
 * name.
 */
import { createHash } from 'node:crypto';

/** OpenAI and Gemini accept 64 characters, Anthropic 128. */
const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

export interface WireNames {
  toWire(name: string): string;
  /** The offered name; an unknown one is returned unchanged, for the caller to refuse. */
  fromWire(name: string): string;
}

/**
 * Maps the offered names one to one. Equal offers give equal wire names in every request, so prompt caches stay valid.
 * A name that was not offered is also looked up without `toolCallPrefix`.
 */
export function createWireNames(offered: readonly string[], toolCallPrefix?: string): WireNames {
  const toOffered = new Map<string, string>();
  const toWire = new Map<string, string>();
  // Names that need no change come first, so that a changed one can never take theirs.
  const sorted = [...offered].sort((a, b) => Number(a !== clean(a)) - Number(b !== clean(b)));
  for (const name of sorted) {
    const cleaned = clean(name);
    const wire = toOffered.has(cleaned) ? withHash(cleaned, name) : cleaned;
    toWire.set(name, wire);
    toOffered.set(wire, name);
  }
  return {
    toWire: (name) => toWire.get(name) ?? clean(name),
    fromWire: (name) => toOffered.get(name) ?? toOffered.get(stripCallPrefix(name, toolCallPrefix)) ?? name,
  };
}

const PLACE = '{tool_name}';

/**
 * The tool's name in a call of which a proxy has changed the name. `template` has `{tool_name}` where the name stands;
 * without it, it is what precedes the name, up to a `_`. A name that does not match stays as it is.
 */
export function stripCallPrefix(name: string, template: string | undefined): string {
  if (!template) return name;
  const at = template.indexOf(PLACE);
  const before = at >= 0 ? template.slice(0, at) : template.replace(/_?$/, '_');
  const after = at >= 0 ? template.slice(at + PLACE.length) : '';
  const hasName = name.length > before.length + after.length;
  return hasName && name.startsWith(before) && name.endsWith(after)
    ? name.slice(before.length, name.length - after.length)
    : name;
}

function clean(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '_').replace(/^(?![A-Za-z_])/, '_');
  return plain.length <= MAX_LENGTH ? plain : withHash(plain, name);
}

function withHash(plain: string, name: string): string {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_LENGTH);
  return `${plain.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`;
}
