/** Values that a script gives to its own variables, so that `X=rm; $X -rf /` is recognized. */
import {
  type ArithmeticExpression,
  type Assignment,
  type Command,
  type For,
  forEachChild,
  type ParsedScript,
  type SyntaxNode,
  type Word,
} from 'unbash';
import { namesSet } from '../names-set.ts';
import { setsNothing } from './plain-arithmetic.ts';
import { readWord } from './read-word.ts';
import { NO_WORDS, type Variable, type Variables } from '../shell-command.ts';

/** Greatest number of values of one variable; with more it is unknown. */
const MAX_VALUES = 32;
const MAX_DEPTH = 100;
/** Programs that set variables in ways that are not followed here. */
const SETTERS = new Set('mapfile readarray getopts unset eval source . let declare typeset local'.split(' '));
/** These set variables only with an option. */
const MAY_SET = new Set(['printf', 'wait']);
const NAME = /^[a-zA-Z_]\w*$/;

interface Collected {
  readonly known: Map<string, Variable>;
  readonly unknown: Set<string>;
  /** Positions within backticks belong to another text. */
  readonly hasPositions: boolean;
  isUnclear: boolean;
}

/**
 * Every name that is only ever set to literals (or to other known names), with all its values. In a script that also
 * sets names in other ways, none is known.
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
  for (const name of found.unknown) {
    const variable = found.known.get(name);
    if (variable) found.known.set(name, { ...variable, values: [] });
  }
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
      forget(found, node.name.value);
      break;
    case 'Coproc':
      for (const name of namesSet(node)) forget(found, name);
      break;
    case 'Command':
      lookAtCommand(node, found);
      break;
    case 'ParameterExpansion':
      // `${x:=value}` sets it.
      if (node.operation?.type === 'Default') forget(found, node.parameter);
      break;
    default:
      if (node.type.startsWith('Arithmetic')) {
        lookAtArithmetic(node, found, depth);
        return;
      }
  }
  forEachChild(node, (child) => look(child, found, depth + 1));
}

/** What sets names only to numbers is followed; what else it may set is unclear. */
function lookAtArithmetic(node: SyntaxNode, found: Collected, depth: number): void {
  if (node.type === 'ArithmeticFor') {
    found.isUnclear ||= !counts([node.initialize, node.test, node.update], found);
    look(node.body, found, depth + 1);
  } else if (node.type === 'ArithmeticCommand') found.isUnclear ||= !counts([node.expression], found);
  else found.isUnclear ||= node.type !== 'ArithmeticExpansion' || !setsNothing(node.text);
}

/** `((i = 0))`, `((i++))`: notes the names that it sets to a number. False when it is not that plain. */
function counts(expressions: readonly (ArithmeticExpression | undefined)[], found: Collected): boolean {
  return expressions.every((each) => each === undefined || countsIn(each, found));
}

function countsIn(node: ArithmeticExpression, found: Collected): boolean {
  switch (node.type) {
    case 'ArithmeticWord':
      return /^(?:\d+|[a-z_][a-z\d_]*)$/.test(node.value);
    case 'ArithmeticBinary':
      if (/^[-+*/%]?=$/.test(node.operator)) count(node.left, found);
      return counts([node.left, node.right], found);
    case 'ArithmeticUnary':
      if (/^(?:\+\+|--)$/.test(node.operator)) count(node.operand, found);
      return countsIn(node.operand, found);
    case 'ArithmeticGroup':
      return countsIn(node.expression, found);
    default:
      return false;
  }
}

/** Its value is a number, whatever it was before. */
function count(node: ArithmeticExpression, found: Collected): void {
  if (node.type !== 'ArithmeticWord') return;
  found.unknown.add(node.value);
  found.known.set(node.value, found.known.get(node.value) ?? UNSET);
}

function lookAtCommand(node: Command, found: Collected): void {
  const words = [node.name, ...node.suffix].filter((each) => each?.type === 'Word');
  const at = words.findIndex((word) => !/^(?:command|builtin|-.*)$/.test(word.value));
  const program = words[at]?.value ?? '';
  const args = words.slice(at + 1);
  const isPlain = args.every((word) => readWord(word, new Map(), []).isLiteral);
  if (program === 'read') {
    found.isUnclear ||= !isPlain;
    // The value of an option such as `-p` also counts as a name, which does no harm.
    for (const word of args) if (NAME.test(word.value)) own(found, word.value);
  } else found.isUnclear ||= SETTERS.has(program) || (MAY_SET.has(program) && namesVariable(args[0]));
}

/** `printf -v name`, `wait -p name`, or a word that may be such an option. */
function namesVariable(first: Word | undefined): boolean {
  return first !== undefined && /^(?:-.*[vp]|["']?-?\$)/.test(first.text);
}

function lookAtLoop(node: For, found: Collected): void {
  if (node.wordlist === undefined) forget(found, node.name.value);
  for (const word of node.wordlist ?? []) set(found, node.name.value, word);
  if (found.hasPositions) markCertain(found, node.name.value, node.body.pos, node.body.end);
}

function assign(node: Assignment, found: Collected): void {
  const isPlain = node.value.type === 'Word' && !node.append && !node.index;
  if (isPlain && node.value.type === 'Word') set(found, node.name, node.value);
  else if (isLiteralArray(node)) own(found, node.name);
  else forget(found, node.name);
}

/** `x=(a b)` */
function isLiteralArray({ value, append, index }: Assignment): boolean {
  return (
    value.type === 'ArrayValue' &&
    !append &&
    !index &&
    value.elements.every((each) => each.type === 'Word' && readWord(each, new Map(), []).isLiteral)
  );
}

const UNSET: Variable = { values: [], isOwn: true, isNumber: true, certain: [] };

function set(found: Collected, name: string, value: Word): void {
  // Commands in a substitution are judged separately.
  const word = readWord(value, found.known, [NO_WORDS]);
  const values = word.isLiteral ? [word.value] : word.choices;
  const before = found.known.get(name) ?? UNSET;
  const all = [...before.values, ...(values ?? [])];
  if (values === null || all.length > MAX_VALUES) found.unknown.add(name);
  found.known.set(name, {
    values: all,
    isOwn: before.isOwn && (word.isLiteral || word.isHarmless || word.choices !== null),
    isNumber:
      before.isNumber && (setsNothing(word.text) || (values ?? ['']).every((each) => /^\d+$/.test(each))),
    certain: before.certain,
  });
}

/** It is set to what a command reads. */
function own(found: Collected, name: string): void {
  found.unknown.add(name);
  found.known.set(name, { ...(found.known.get(name) ?? UNSET), isNumber: false });
}

/** It is set in a way that is not followed. */
function forget(found: Collected, name: string): void {
  found.unknown.add(name);
  found.known.set(name, { ...(found.known.get(name) ?? UNSET), isOwn: false, isNumber: false });
}

function markCertain(found: Collected, name: string, from: number, to: number): void {
  const before = found.known.get(name);
  // A range within another one adds nothing, and a script may repeat itself thousands of times.
  if (!before || before.certain.some((each) => each.from <= from && each.to >= to)) return;
  found.known.set(name, { ...before, certain: [...before.certain, { from, to }] });
}
