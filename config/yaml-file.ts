/**
 * Reads `tempoclaw.yaml`. Syntax errors and refused keys are reported with file, line, column and what is allowed
 * there. `${NAME}` in a string refers to an environment variable, so keys need not be in the file.
 */
import { readFileSync } from 'node:fs';
import type { Document, Scalar } from 'yaml';
import { isMap, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import type { Environment } from './environment.ts';
import { isTree } from './layer.ts';

/** A settings file is a few kilobytes; a megabyte is somebody else's file. */
const MAX_FILE_BYTES = 1_048_576;

export interface YamlFile {
  readonly values: Record<string, unknown>;
  readonly problems: string[];
  /** `file:line:column` of the value (or key) at a path. */
  locate(path: readonly PropertyKey[], onKey?: boolean): string | undefined;
}

/** Reads and parses the file; undefined when there is none. Throws only when it exists and cannot be read. */
export function readYamlFile(file: string, shownAs: string, env: Environment): YamlFile | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  return parseYaml(text, shownAs, env);
}

/** Parses the text of a settings file; `shownAs` is its name in messages. */
export function parseYaml(text: string, shownAs: string, env: Environment): YamlFile {
  const problems: string[] = [];
  if (text.length > MAX_FILE_BYTES) {
    return {
      values: {},
      problems: [`${shownAs}: larger than ${MAX_FILE_BYTES} bytes`],
      locate: () => undefined,
    };
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${shownAs}:${line}:${col}`;
  };
  for (const error of document.errors) problems.push(`${at(error.pos[0])}: ${error.message}`);
  if (problems.length > 0) return { values: {}, problems, locate: () => undefined };
  visit(document, {
    Scalar: (key, node) => {
      if (key !== 'key')
        substitute(node, env, (what) => problems.push(`${at(node.range?.[0] ?? 0)}: ${what}`));
    },
  });
  const plain: unknown = document.toJS({ maxAliasCount: 100 });
  if (plain !== null && !isTree(plain)) problems.push(`${shownAs}:1:1: must be a map of settings`);
  return {
    values: isTree(plain) ? withoutNulls(plain) : {},
    problems,
    locate: (path, onKey = false) => locate(document, path, onKey, at),
  };
}

/** Replaces `${NAME}` in place; `$${NAME}` stays as the literal `${NAME}`. */
function substitute(node: Scalar, env: Environment, complain: (what: string) => void): void {
  if (typeof node.value !== 'string' || !node.value.includes('${')) return;
  node.value = node.value.replace(/(\$?)\$\{([^}]*)\}/g, (whole, dollar: string, name: string) => {
    if (dollar !== '') return whole.slice(1);
    const value = env[name];
    if (value !== undefined && value !== '') return value;
    complain(`\${${name}} refers to an environment variable that is not set`);
    return '';
  });
}

/** A key left empty (`api:`) means its default, as if its body were commented out. */
function withoutNulls(tree: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(tree)
      .filter(([, value]) => value !== null)
      .map(([key, value]) => [key, isTree(value) ? withoutNulls(value) : value]),
  );
}

function locate(
  document: Document.Parsed,
  path: readonly PropertyKey[],
  onKey: boolean,
  at: (offset: number) => string,
): string | undefined {
  const keys = path.map(String);
  const node = onKey ? keyNode(document, keys) : document.getIn(keys, true);
  return isNode(node) && node.range ? at(node.range[0]) : undefined;
}

function keyNode(document: Document.Parsed, path: readonly string[]): unknown {
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (!isMap(parent)) return undefined;
  return parent.items.find(({ key }) => isScalar(key) && String(key.value) === path.at(-1))?.key;
}
