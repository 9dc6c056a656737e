/**
 * Defines which JSON Schemas (draft 2020-12) a custom tool may have: each argument is one word of a command, in a
 * bounded schema without references. The validator compiles schemas into code and trusts them; this check makes that
 * safe.
 */

import { type Fields, isRecord } from '#domain/outside-value.ts';

export type Scalar = string | number | boolean;

/** The fields of one argument; KEYWORDS has the others that it may have. */
export interface Property {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
}

export interface Parameters {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Property>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
}

export const PARAMETER_LIMITS = {
  bytes: 32_768,
  properties: 50,
  nodes: 200,
  depth: 5,
  patterns: 20,
  pattern: 500,
};

/** Names begin with letters, so that none is a name that objects have of their own. */
const PROPERTY_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const INHERITED = new Set(['constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf']);

const TOP_KEYWORDS = new Set(
  '$schema $comment title description type properties required additionalProperties dependentRequired'.split(
    ' ',
  ),
);
const KEYWORDS = new Set(
  '$comment title description type enum const default examples format deprecated minLength maxLength pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'.split(
    ' ',
  ),
);
const BRANCHES = new Set(['anyOf', 'oneOf', 'allOf']);
const CONDITIONS = new Set(['not', 'if', 'then', 'else']);
const SCALAR_TYPES = new Set(['string', 'number', 'integer', 'boolean', 'null']);

interface SchemaWalk {
  readonly problems: string[];
  nodes: number;
  patterns: number;
}

/** Every problem in words; none when the schema may be compiled. */
export function parameterProblems(schema: unknown): readonly string[] {
  if (!isRecord(schema)) return ['must be a JSON Schema object'];
  if (JSON.stringify(schema).length > PARAMETER_LIMITS.bytes)
    return [`must have at most ${PARAMETER_LIMITS.bytes} characters`];
  const walk: SchemaWalk = { problems: [], nodes: 0, patterns: 0 };
  if (schema['type'] !== 'object') walk.problems.push('type: must be "object"');
  for (const keyword of Object.keys(schema))
    if (!TOP_KEYWORDS.has(keyword)) walk.problems.push(`${shown(keyword)}: is not supported here`);
  checkProperties(schema['properties'] ?? {}, walk);
  checkRequired(schema, walk);
  return walk.problems.slice(0, 20);
}

function checkProperties(properties: unknown, walk: SchemaWalk): void {
  if (!isRecord(properties)) {
    walk.problems.push('properties: must be an object');
    return;
  }
  const entries = Object.entries(properties);
  if (entries.length > PARAMETER_LIMITS.properties)
    walk.problems.push(`properties: at most ${PARAMETER_LIMITS.properties}`);
  for (const [name, property] of entries) {
    if (!PROPERTY_NAME.test(name) || INHERITED.has(name))
      walk.problems.push(`properties: ${shown(name)} cannot name an argument`);
    checkNode(property, `properties.${shown(name)}`, 1, walk);
  }
}

function checkRequired({ required, properties }: Fields, walk: SchemaWalk): void {
  if (required === undefined) return;
  const known = isRecord(properties) ? properties : {};
  if (!Array.isArray(required) || required.some((name) => typeof name !== 'string'))
    walk.problems.push('required: must be a list of names');
  else
    for (const name of required as string[])
      if (!Object.hasOwn(known, name))
        walk.problems.push(`required: ${shown(name)} is not among the properties`);
}

function checkNode(node: unknown, at: string, depth: number, walk: SchemaWalk): void {
  walk.nodes += 1;
  if (depth > PARAMETER_LIMITS.depth || walk.nodes > PARAMETER_LIMITS.nodes) {
    walk.problems.push(`${at}: is too deep, or the schema too large`);
    return;
  }
  if (!isRecord(node)) {
    walk.problems.push(`${at}: must be a schema object`);
    return;
  }
  for (const [keyword, value] of Object.entries(node)) {
    if (CONDITIONS.has(keyword)) checkNode(value, `${at}.${keyword}`, depth + 1, walk);
    else if (BRANCHES.has(keyword)) checkBranches(value, `${at}.${keyword}`, depth, walk);
    else if (!KEYWORDS.has(keyword)) walk.problems.push(`${at}.${shown(keyword)}: is not supported here`);
  }
  checkType(node['type'], at, walk);
  checkPattern(node['pattern'], at, walk);
}

function checkBranches(branches: unknown, at: string, depth: number, walk: SchemaWalk): void {
  if (!Array.isArray(branches)) walk.problems.push(`${at}: must be a list of schemas`);
  else branches.forEach((branch, index) => checkNode(branch, `${at}.${index}`, depth + 1, walk));
}

function checkType(type: unknown, at: string, walk: SchemaWalk): void {
  const types: readonly unknown[] = Array.isArray(type) ? type : type === undefined ? [] : [type];
  for (const one of types)
    if (typeof one !== 'string' || !SCALAR_TYPES.has(one))
      walk.problems.push(
        `${at}.type: must be string, number, integer or boolean, since an argument is one word of the command`,
      );
}

function checkPattern(pattern: unknown, at: string, walk: SchemaWalk): void {
  if (pattern === undefined) return;
  walk.patterns += 1;
  if (typeof pattern !== 'string' || pattern.length > PARAMETER_LIMITS.pattern)
    walk.problems.push(`${at}.pattern: must be a text of at most ${PARAMETER_LIMITS.pattern} characters`);
  if (walk.patterns > PARAMETER_LIMITS.patterns)
    walk.problems.push(`${at}.pattern: the schema has more than ${PARAMETER_LIMITS.patterns} patterns`);
}

function shown(name: string): string {
  return name.length > 60 ? `${name.slice(0, 57)}...` : name;
}
