/** Parses shell text into the simple commands that it may run; only this module knows the parser. */
import {
  type Command,
  forEachChild,
  type Function as FunctionNode,
  type HereDoc,
  parse,
  type Pipeline,
  type Redirected,
  type Redirection,
  type SyntaxNode,
  type Word,
} from 'unbash';
import { descriptorName, namesSet } from '../names-set.ts';
import { hidesCommand, readWord } from './read-word.ts';
import {
  literalWord,
  NO_WORDS,
  type ParsedShell,
  type ShellAssignment,
  type ShellCommand,
  type ShellInput,
  type ShellMark,
  type ShellRedirect,
  type ShellWord,
  type Variables,
} from '../shell-command.ts';
import { variablesOf } from './variables-of.ts';

/** Greatest number of simple commands of one text; a person decides on a longer script. */
const MAX_COMMANDS = 2000;
/** Greatest depth of constructs. */
const MAX_DEPTH = 100;

interface ParseState {
  readonly variables: Variables;
  readonly commands: ShellCommand[];
  readonly functions: Set<string>;
  readonly marks: Set<ShellMark>;
  problem: string | null;
}

/** Parses a text; never throws. `problem` says what is unclear. */
export function parseShell(source: string): ParsedShell {
  const tree = parse(source);
  const walk: ParseState = {
    variables: variablesOf(tree, source),
    commands: [],
    functions: new Set(),
    marks: new Set(),
    problem: tree.errors?.[0]?.message ?? null,
  };
  visit(tree, walk, null, 0);
  return walk;
}

/** Visits a node; returns the commands in it, so that the next command of a pipe knows its input. */
function visit(
  node: SyntaxNode,
  walk: ParseState,
  input: ShellInput | null,
  depth: number,
): readonly ShellCommand[] {
  if (depth > MAX_DEPTH || walk.commands.length > MAX_COMMANDS) {
    walk.problem ??= 'the command is too deep or too long to be judged';
    return [];
  }
  switch (node.type) {
    case 'Command':
      return visitCommand(node, walk, input, depth);
    case 'Pipeline':
      return visitPipeline(node, walk, input, depth);
    case 'Redirected':
      return visitRedirected(node, walk, input, depth);
    case 'Function':
      walk.functions.add(node.name.value);
      if (callsItself(node)) walk.marks.add('fork_bomb');
      return visit(node.body, walk, null, depth + 1);
    default:
      note(node, walk);
      return visitChildren(node, walk, SUBSTITUTES.has(node.type) ? null : input, depth);
  }
}

/** A fork bomb: several calls of itself, or one in the background, double until nothing else runs. */
function callsItself(node: FunctionNode): boolean {
  let calls = 0;
  let isBackground = false;
  const probe = (each: SyntaxNode): void => {
    if (each.type === 'Command' && each.name?.value === node.name.value) calls += 1;
    if (each.type === 'Statement' && each.background) isBackground = true;
    forEachChild(each, probe);
  };
  probe(node.body);
  return calls > 1 || (calls === 1 && isBackground);
}

/** These read the shell's own input, not that of the surrounding command. */
const SUBSTITUTES = new Set(['CommandExpansion', 'ProcessSubstitution', 'ArithmeticCommandExpansion']);

/** A command that only sets variables, to unknown values. */
function pushNames(names: readonly string[], { commands }: ParseState): void {
  if (names.length > 0)
    commands.push({ ...NO_WORDS, assignments: names.map((name) => ({ name, value: null })) });
}

/** Records what a node means for the whole text. */
function note(node: SyntaxNode, walk: ParseState): void {
  pushNames(namesSet(node), walk);
  if (node.type === 'Script' && 'errors' in node) walk.problem ??= node.errors?.[0]?.message ?? null;
  if ('script' in node && node.script === undefined) walk.problem ??= 'a substitution cannot be read';
  if (node.type === 'Word' && hidesCommand(node)) walk.marks.add('hides_command');
  if (EVALUATES.has(node.type)) walk.marks.add('evaluates_text');
  if (isPromptExpansion(node)) walk.marks.add('prompt_expansion');
}

function isPromptExpansion(node: SyntaxNode): boolean {
  if (node.type !== 'ParameterExpansion' || node.operation?.type !== 'Transform') return false;
  return PROMPT_EXPANSIONS.test(node.operation.operand?.value ?? '');
}

/** `P` runs substitutions; `E`, `A`, `K` and `k` turn data into code elsewhere. */
const PROMPT_EXPANSIONS = /^[PEAKk]$/;

/** Arithmetic and `[[` evaluate the text of variables and subscripts. */
const EVALUATES = new Set(['TestCommand', 'ArithmeticCommand', 'ArithmeticFor', 'ArithmeticExpansion']);

function visitPipeline(
  node: Pipeline,
  walk: ParseState,
  input: ShellInput | null,
  depth: number,
): readonly ShellCommand[] {
  let from: readonly ShellCommand[] = [];
  const all: ShellCommand[] = [];
  node.commands.forEach((each, index) => {
    from = visit(each, walk, index === 0 ? input : { kind: 'pipe', from }, depth + 1);
    all.push(...from);
  });
  return all;
}

/** The redirections become a separate command, so that they are judged. */
function visitRedirected(
  node: Redirected,
  walk: ParseState,
  input: ShellInput | null,
  depth: number,
): readonly ShellCommand[] {
  const redirects = node.redirects.map((each) => readRedirect(each, walk, depth));
  const ownInput = inputOf(redirects);
  walk.commands.push({
    ...NO_WORDS,
    redirects: redirects.map((each) => each.redirect),
    input: ownInput,
  });
  const sources = redirects.flatMap((each) => each.sources);
  const commands = visit(node.command, walk, ownInput ?? input, depth + 1);
  feedOutputs(
    redirects.map((each) => each.redirect.target),
    commands,
    walk,
  );
  return [...sources, ...commands];
}

function visitChildren(
  node: SyntaxNode,
  walk: ParseState,
  input: ShellInput | null,
  depth: number,
): readonly ShellCommand[] {
  const all: ShellCommand[] = [];
  forEachChild(node, (child) => {
    all.push(...visit(child, walk, input, depth + 1));
  });
  return all;
}

function visitCommand(
  node: Command,
  walk: ParseState,
  input: ShellInput | null,
  depth: number,
): readonly ShellCommand[] {
  const assignments: ShellAssignment[] = [];
  const redirects: ReadRedirect[] = [];
  const words: ShellWord[] = [];
  const inner: ShellCommand[] = [];
  const word = (parsed: Word): ShellWord => {
    if (hidesCommand(parsed)) walk.marks.add('hides_command');
    const sources = visitChildren(parsed, walk, null, depth);
    inner.push(...sources);
    return readWord(parsed, walk.variables, sources);
  };
  if (node.name) words.push(...splitName(word(node.name)));
  for (const each of [...node.prefix, ...node.suffix]) {
    if (each.type === 'Word') words.push(word(each));
    else if (each.type === 'Assignment') {
      if (each.index) word(each.index);
      const value = each.value.type === 'Word' ? word(each.value) : null;
      if (each.value.type === 'ArrayValue') each.value.elements.forEach((element) => word(element));
      assignments.push({ name: each.name, value });
      // `export A=b` is an argument as well.
      if (node.name && node.suffix.includes(each))
        words.push({
          ...(value ?? literalWord('')),
          text: each.text,
          value: `${each.name}=${value?.value ?? ''}`,
          choices: null,
        });
    } else redirects.push(readRedirect(each, walk, depth));
  }
  const command: ShellCommand = {
    ...NO_WORDS,
    words,
    assignments,
    redirects: redirects.map((each) => each.redirect),
    input: inputOf(redirects) ?? input,
  };
  walk.commands.push(command);
  feedOutputs([...words, ...redirects.map((each) => each.redirect.target)], [command], walk);
  return [...inner, ...redirects.flatMap((each) => each.sources), command];
}

/** `tee >(sh)`, `echo … > >(sh)`: what is inside `>(…)` reads what the command writes. */
function feedOutputs(
  words: readonly (ShellWord | null)[],
  from: readonly ShellCommand[],
  walk: ParseState,
): void {
  for (const word of words) {
    if (!word?.text.startsWith('>(')) continue;
    for (const source of word.sources) {
      const at = walk.commands.indexOf(source);
      if (at >= 0 && source.input === null) walk.commands[at] = { ...source, input: { kind: 'pipe', from } };
    }
  }
}

/** `X="rm -rf /"; $X`: the shell splits what it expands, so the name contains its arguments. */
function splitName(name: ShellWord): readonly ShellWord[] {
  if (name.isLiteral || !/^\$\{?\w+\}?$/.test(name.text) || name.value === name.text) return [name];
  return name.value.split(/\s+/).map((value) => ({ ...name, value, choices: null }));
}

interface ReadRedirect {
  readonly redirect: ShellRedirect;
  readonly input: ShellInput | null;
  readonly sources: readonly ShellCommand[];
}

function readRedirect(node: Redirection, walk: ParseState, depth: number): ReadRedirect {
  pushNames(descriptorName(node), walk);
  const sources = visitChildren(node, walk, null, depth);
  const fd = node.descriptor?.type === 'FileDescriptor' ? node.descriptor.value : null;
  const redirect: ShellRedirect = { operator: node.operator, fd, target: null };
  if (node.type === 'HereDoc') return { redirect, input: readHereDoc(node, walk, sources), sources };
  const target = node.target ? readWord(node.target, walk.variables, sources) : null;
  if (node.type === 'HereString') {
    const isLiteral = target?.isLiteral ?? false;
    return { redirect, input: { kind: 'text', text: target?.value ?? '', isLiteral, sources }, sources };
  }
  const reads = node.operator === '<' || node.operator === '<>';
  return { redirect: { ...redirect, target }, input: reads ? { kind: 'file', target } : null, sources };
}

/** The content of a here-document is data, except what the shell expands in it. */
function readHereDoc(node: HereDoc, walk: ParseState, sources: readonly ShellCommand[]): ShellInput {
  if (node.closing === undefined) walk.problem ??= 'a here-document has no end';
  const isLiteral = (node.delimiter?.quoted ?? false) || !/[$`\\]/.test(node.body.text);
  return { kind: 'text', text: node.body.text, isLiteral, sources };
}

function inputOf(redirects: readonly ReadRedirect[]): ShellInput | null {
  return redirects.findLast((each) => each.input !== null && (each.redirect.fd ?? 0) === 0)?.input ?? null;
}
