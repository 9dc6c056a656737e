/**
 * Refuses identifiers that are made of words with no meaning in this field. A name is a noun, or a verb and a noun, that an
 * engineer would type into a search box. Names of other systems' wires have an underscore and are not ours to choose.
 */
import { globSync, readFileSync } from 'node:fs';
import { parseSync } from '@swc/core';

/** A word that names may not have, and what to write in its place. */
const REFUSED: Readonly<Record<string, string>> = {
  asked: 'requested, queried or called',
  begun: 'started',
  door: 'client',
  given: 'the thing that it is, such as input, fields or options',
  heard: 'received',
  least: 'min',
  leaves: 'the verb of what happens',
  looked: 'checked or read',
  most: 'max',
  room: 'remaining, limit or buffer',
  said: 'text, or the thing that it is',
  stands: 'the verb of what happens',
  stretch: 'attempt',
  tell: 'notify or report',
  tells: 'notifies or reports',
  told: 'notified or reported',
  wanted: 'expected or required',
};

const FILES = globSync(
  '{packages,domain,features,workflows,policy,store,temporal,activities,workers,api,cli,console,config,scripts,bench}/**/*.{ts,tsx}',
  {
    exclude: (path) => /(^|\/)(node_modules|test)$/.test(path),
  },
);

type Node = Readonly<Record<string, unknown>>;

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

/** Where nodes have the identifiers that they declare. Keys of object literals are left out: their types declare them. */
const DECLARED: Readonly<Record<string, string>> = {
  VariableDeclarator: 'id',
  TsInterfaceDeclaration: 'id',
  TsTypeAliasDeclaration: 'id',
  FunctionDeclaration: 'identifier',
  ClassDeclaration: 'identifier',
  Parameter: 'pat',
  ArrowFunctionExpression: 'params',
  TsFunctionType: 'params',
  TsPropertySignature: 'key',
  TsMethodSignature: 'key',
  ClassProperty: 'key',
  AssignmentPatternProperty: 'key',
  KeyValuePatternProperty: 'value',
  AssignmentPattern: 'left',
  RestElement: 'argument',
  ArrayPattern: 'elements',
};

function declared(node: Node): readonly unknown[] {
  const found = node[DECLARED[String(node['type'])] ?? ''];
  return Array.isArray(found) ? found : [found];
}

function namesIn(node: unknown, names: Set<string>): void {
  if (!isNode(node)) return;
  for (const found of declared(node))
    if (isNode(found) && found['type'] === 'Identifier') names.add(String(found['value']));
  for (const value of Object.values(node)) namesIn(value, names);
}

/** The words of `readUpTo`: read, up, to. */
function wordsIn(name: string): readonly string[] {
  return name.includes('_') && !/^[A-Z\d_]+$/.test(name)
    ? []
    : name.split(/(?<=[a-z\d])(?=[A-Z])|_/).map((word) => word.toLowerCase());
}

const problems = FILES.flatMap((file) => {
  const names = new Set<string>();
  namesIn(
    parseSync(readFileSync(file, 'utf8'), {
      syntax: 'typescript',
      tsx: file.endsWith('.tsx'),
      target: 'es2022',
    }),
    names,
  );
  return [...names].flatMap((name) =>
    wordsIn(name).flatMap((word) =>
      Object.hasOwn(REFUSED, word) ? [`${file}: ${name}: write ${REFUSED[word] ?? ''}`] : [],
    ),
  );
});
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
