/** `[ -n "$CI" ]`: a comparison tells one bit about a variable and prints nothing. */
import { isInside } from './is-inside.ts';
import { argumentsOf, programOf, type ShellCommand, type ShellWord } from '../shell-command.ts';

/** Without `-v` and `-R`, which evaluate a subscript in their text. */
const UNARY = /^-[bcdefghkLnOGprsStuwxz]$/;
const BINARY = /^(?:=|==|!=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))$/;
const QUOTED_NAME = /^"\$(?:[#?!$]|\w+|\{\w+\})"$/;

/** The operator's place determines that a text, whatever it is, is no operator. */
export function isComparison(command: ShellCommand): boolean {
  const words = command.isOpen ? undefined : comparedWords(command);
  if (words === undefined) return false;
  const [left, operator, right, ...others] = words[0]?.value === '!' ? words.slice(1) : words;
  if (left === undefined || operator === undefined || others.length > 0) return false;
  if (right !== undefined) return isOperator(operator, BINARY) && isText(left) && isText(right);
  return isOperator(left, UNARY) && isText(operator) && (!isKnown(operator) || isInside(operator));
}

/** The words between `[` and `]`, or after `test`. */
function comparedWords(command: ShellCommand): readonly ShellWord[] | undefined {
  const args = argumentsOf(command);
  const program = programOf(command);
  if (program === 'test') return args;
  return program === '[' && args.at(-1)?.value === ']' ? args.slice(0, -1) : undefined;
}

function isOperator(word: ShellWord, form: RegExp): boolean {
  return word.isLiteral && form.test(word.value);
}

function isKnown({ isLiteral, choices }: ShellWord): boolean {
  return isLiteral || choices !== null;
}

/** A plain word, or a name in quotes, so that it stays one word. */
function isText(word: ShellWord): boolean {
  return word.isLiteral ? !word.isGlob && /^[\w./:@%+=-]*$/.test(word.value) : QUOTED_NAME.test(word.text);
}
