/**
 * Converts a model's arguments to those that a tool accepts: other names, numbers in quotes, then the schema (EX-1).
 */
import { z } from 'zod';
import { type Fields, fieldOf, isRecord, withoutNulls } from '#domain/outside-value.ts';
import { issueWords, plainIssues } from '#domain/schema/problem-words.ts';
import type { ToolAlias, Tool } from './define-tool.ts';

export type Arguments = Fields;

export type ReadArguments =
  | { readonly ok: true; readonly input: unknown; readonly args: Arguments }
  | { readonly ok: false; readonly message: string };

/**
 * `args` of the result are canonical, without defaults: reading them again under the tool's own name gives the same
 * `input`. The message lists every problem, in words a model can act on.
 */
export function readArguments(tool: Tool, alias: ToolAlias | undefined, raw: unknown): ReadArguments {
  const object = asObject(raw);
  if (object === undefined)
    return { ok: false, message: `${tool.name} takes its arguments as a JSON object` };
  const translated = alias?.toCanonical ? alias.toCanonical(withoutNulls(object)) : object;
  const { args, unknown } = readNames(tool, translated);
  const known = Object.keys(shapeOf(tool.input).properties);
  const problems = unknown.map(
    (name) => fieldOf(tool.refusedParameters, name) ?? `${short(name)}: there is no such parameter`,
  );
  const read = parseFilled(tool.input, args);
  if (!read.success) problems.push(...plainIssues(read.error.issues).map((issue) => problemOf(issue, args)));
  if (problems.length > 0 || !read.success)
    return {
      ok: false,
      message: `${problems.slice(0, 20).join('; ')}. Parameters of ${tool.name}: ${known.join(', ') || 'none'}`,
    };
  return { ok: true, input: read.data, args };
}

/**
 * Models write an empty text or list for a parameter that they leave out. Where the schema takes none, it is removed from
 * `args` if the parameter is optional.
 */
function parseFilled(schema: z.ZodType, args: Record<string, unknown>): z.ZodSafeParseResult<unknown> {
  const read = schema.safeParse(args);
  if (read.success) return read;
  const { required } = shapeOf(schema);
  const names = read.error.issues.map(({ path }) => String(path[0] ?? ''));
  const empty = names.filter((name) => isEmpty(fieldOf(args, name)) && !required.has(name));
  for (const name of empty) delete args[name];
  return empty.length > 0 ? schema.safeParse(args) : read;
}

function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0);
}

/** The arguments under the tool's own names, and the names that are no parameters. */
function readNames(
  tool: Tool,
  input: Arguments,
): { readonly args: Record<string, unknown>; readonly unknown: readonly string[] } {
  const { properties, mayBeNull, isOpen } = shapeOf(tool.input);
  const args: Record<string, unknown> = {};
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(input)) {
    if (value === null && !mayBeNull.has(name)) continue;
    const canonical = fieldOf(tool.parameterAliases, name) ?? name;
    const property = fieldOf(properties, canonical);
    if (property === undefined) {
      if (isOpen && name !== '__proto__') args[name] = value;
      else if (!asksForNothing(tool, name, value)) unknown.push(name);
    } else if (canonical === name || !Object.hasOwn(input, canonical)) {
      args[canonical] = coerce(value, property);
    }
  }
  return { args, unknown };
}

/** The parameter has no effect here, or would be refused but has a value that switches it off. */
function asksForNothing(tool: Tool, name: string, value: unknown): boolean {
  const isRefused = fieldOf(tool.refusedParameters, name) !== undefined;
  return (isRefused && value === false) || tool.ignoredParameters?.includes(name) === true;
}

interface Property {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Property>>;
  readonly additionalProperties?: unknown;
  readonly items?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Property[];
  readonly oneOf?: readonly Property[];
}

interface Shape {
  readonly properties: Readonly<Record<string, Property>>;
  readonly required: ReadonlySet<string>;
  /** Parameters that must be given and may be null; for all others null means absent. */
  readonly mayBeNull: ReadonlySet<string>;
  /** Whether there may be parameters that `properties` does not name. */
  readonly isOpen: boolean;
}

const SHAPES = new WeakMap<z.ZodType, Shape>();

function shapeOf(schema: z.ZodType): Shape {
  const known = SHAPES.get(schema);
  if (known) return known;
  const { properties = {}, required, ...rest } = jsonSchemaOf(schema);
  const named = properties as Record<string, Property>;
  const names = Array.isArray(required) ? required.map(String) : [];
  const made: Shape = {
    properties: named,
    required: new Set(names),
    mayBeNull: new Set(names.filter((name) => typesOf(fieldOf(named, name) ?? {}).includes('null'))),
    isOpen: isOpen(rest),
  };
  SHAPES.set(schema, made);
  return made;
}

function isOpen(schema: Fields): boolean {
  const { additionalProperties: more } = schema;
  return more === true || isRecord(more) || OPENING.some((keyword) => schema[keyword] !== undefined);
}

/** Keywords that name further parameters. */
const OPENING = ['patternProperties', 'anyOf', 'oneOf', 'allOf', '$ref'];

/** A schema that names no type. */
const ANYTHING = 'anything';

/** The types that a property may have, as far as its schema names them. */
function typesOf({ type, ...rest }: Property): readonly string[] {
  if (type !== undefined) return typeof type === 'string' ? [type] : type;
  const choices = choicesOf(rest);
  return choices.length > 0 ? choices.flatMap(typesOf) : [ANYTHING];
}

function choicesOf({ anyOf, oneOf }: Property): readonly Property[] {
  // Another program wrote it.
  return [anyOf, oneOf].flatMap((choices) => (Array.isArray(choices) ? choices.filter(isRecord) : []));
}

/** JSON Schema (draft 2020-12) of the accepted arguments, for models and people. */
export function jsonSchemaOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    // The format contains the same information in one word.
    override: ({ jsonSchema }) => {
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
    },
  });
  return rest;
}

function asObject(raw: unknown): Arguments | undefined {
  if (raw === undefined || raw === null || raw === '') return {};
  const value = typeof raw === 'string' ? parsed(raw) : raw;
  return isRecord(value) ? value : undefined;
}

/**
 * Converts "5" to 5, "true" to true, and a list or object written as text, also within lists and objects: models write
 * these, and they have no other meaning.
 */
function coerce(value: unknown, property: Property): unknown {
  const plain = coerceWhole(value, property);
  if (Array.isArray(plain)) {
    const [items, ...others] = [property, ...choicesOf(property)].flatMap((each) => each.items ?? []);
    return isRecord(items) && others.length === 0 ? plain.map((item) => coerce(item, items)) : plain;
  }
  if (!isRecord(plain)) return plain;
  return Object.fromEntries(
    Object.entries(plain).map(([name, inner]) => [name, coerce(inner, schemaWithin(property, name, plain))]),
  );
}

/** The schema of a field of the object; an empty one where it may be anything, by one of the kinds that the object has. */
function schemaWithin(property: Property, name: string, object: Fields): Property {
  const own = fieldOf(property.properties, name);
  if (isRecord(own)) return own;
  const kinds = choicesOf(property).filter((kind) => mayHave(kind, name) && isOfKind(kind, object));
  if (kinds.length > 0) return { anyOf: kinds.map((kind) => schemaWithin(kind, name, object)) };
  return isRecord(property.additionalProperties) ? property.additionalProperties : {};
}

function mayHave(kind: Property, name: string): boolean {
  const isObject = typesOf(kind).some((type) => type === 'object' || type === ANYTHING);
  return isObject && (kind.additionalProperties !== false || fieldOf(kind.properties, name) !== undefined);
}

/** A kind of object often has a field with one value, which tells it from others. */
function isOfKind({ properties }: Property, object: Fields): boolean {
  return Object.entries(isRecord(properties) ? properties : {}).every(([name, field]) => {
    const value = fieldOf(object, name);
    if (value === undefined || !isRecord(field)) return true;
    if (field['const'] !== undefined) return field['const'] === value;
    return !Array.isArray(field['enum']) || field['enum'].includes(value);
  });
}

function coerceWhole(value: unknown, property: Property): unknown {
  const [type, ...others] = new Set(typesOf(property).filter((each) => each !== 'null'));
  if (others.length > 0) return value;
  if (typeof value === 'number' && type === 'string') return String(value);
  if (typeof value !== 'string') return value;
  const text = value.trim();
  switch (type) {
    case 'integer':
    case 'number':
      return /^[-+]?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : value;
    case 'boolean':
      return /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : value;
    case 'array':
    case 'object': {
      const inner = parsed(text);
      return typeof inner === 'object' && inner !== null ? inner : value;
    }
    default:
      return value;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // It is not JSON, so it stays text, which the schema judges.
    return undefined;
  }
}

function problemOf(issue: z.core.$ZodIssue, args: Arguments): string {
  const path = issue.path.map(String).join('.');
  const name = String(issue.path[0] ?? '');
  const missing = issue.path.length === 1 && !Object.hasOwn(args, name);
  return missing ? `${short(name)}: is required` : `${short(path) || 'arguments'}: ${issueWords(issue)}`;
}

function short(name: string): string {
  return name.length > 60 ? `${name.slice(0, 57)}...` : name;
}
