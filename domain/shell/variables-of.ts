/** Values that a script gives to its own variables, so that `X=rm; $X -rf /` is seen for what it is. */
import {
  type Assignment,
  type For,
  forEachChild,
  type ParsedScript,
  type SyntaxNode,
  type Word,
} from 'unbash';
import { readWord } from './read-word.ts';

/** What the script says about one of its variables. */
export interface Variable {
  /** Every value that the script gives to it. */
  readonly values: readonly string[];
  /** Where in the text it surely has one of them; elsewhere it may be unset or come from the environment. */
  readonly certain: readonly { readonly from: number; readonly to: number }[];
}

export type Variables = ReadonlyMap<string, Variable>;

/** Values of one variable that are followed; with more it is unknown. */
const MAX_VALUES = 32;
const MAX_DEPTH = 100;
/** Programs that set variables in ways that are not followed here. */
const SETTERS = new Set(
  'read mapfile readarray getopts printf unset eval source . let wait declare typeset local'.split(' '),
);

interface Collected {
  readonly known: Map<string, { values: readonly string[]; certain: Variable['certain'] }>;
  readonly unknown: Set<string>;
  /** Positions within backticks are those of another text. */
  readonly hasPositions: boolean;
  isUnclear: boolean;
}

/**
 * Every name that is only ever set to literals (or to other known names), with all its values.
 * A script that also sets names in other ways has none that are known.
 */
export function variablesOf(tree: ParsedScript, source: string): Variables {
  const found: Collected = {
    known: new Map(),
    unknown: new Set(),
    hasPositions: !source.includes('`'),
    isUnclear: false,
  };
  for (const statement of tree.commands) {
    look(statement, found, 0);
    const { command } = statement;
    if (command.type !== 'Command' || command.name || statement.background || !found.hasPositions) continue;
    for (const each of command.prefix)
      if (each.type === 'Assignment') markCertain(found, each.name, each.end, source.length);
  }
  if (found.isUnclear) return new Map();
  for (const name of found.unknown) found.known.delete(name);
  return found.known;
}

function look(node: SyntaxNode, found: Collected, depth: number): void {
  if (depth > MAX_DEPTH) found.isUnclear = true;
  if (found.isUnclear) return;
  switch (node.type) {
    case 'Assignment':
      assign(node, found);
      break;
    case 'For':
      lookAtLoop(node, found);
      break;
    case 'Select':
      found.unknown.add(node.name.value);
      break;
    case 'Command':
      found.isUnclear ||= SETTERS.has(node.name?.value ?? '');
      break;
    case 'ParameterExpansion':
      // `${x:=value}` sets it.
      if (node.operation?.type === 'Default') found.unknown.add(node.parameter);
      break;
    default:
      // `$((x=1))` sets names, too.
      if (node.type.startsWith('Arithmetic')) found.isUnclear = true;
  }
  forEachChild(node, (child) => look(child, found, depth + 1));
}

function lookAtLoop(node: For, found: Collected): void {
  if (node.wordlist === undefined) found.unknown.add(node.name.value);
  for (const word of node.wordlist ?? []) set(found, node.name.value, word);
  if (found.hasPositions) markCertain(found, node.name.value, node.body.pos, node.body.end);
}

function assign(node: Assignment, found: Collected): void {
  const isPlain = node.value.type === 'Word' && !node.append && !node.index;
  if (isPlain && node.value.type === 'Word') set(found, node.name, node.value);
  else found.unknown.add(node.name);
}

function set(found: Collected, name: string, value: Word): void {
  const word = readWord(value, found.known, []);
  const values = word.isLiteral ? [word.value] : word.choices;
  const before = found.known.get(name);
  const all = [...(before?.values ?? []), ...(values ?? [])];
  if (values === null || all.length > MAX_VALUES) found.unknown.add(name);
  else found.known.set(name, { values: all, certain: before?.certain ?? [] });
}

function markCertain(found: Collected, name: string, from: number, to: number): void {
  const before = found.known.get(name);
  // A part that is within another one says nothing new, and a script may repeat itself thousands of times.
  if (!before || before.certain.some((each) => each.from <= from && each.to >= to)) return;
  found.known.set(name, { values: before.values, certain: [...before.certain, { from, to }] });
}
