/** Arithmetic that returns a number and evaluates no text: integers, and names without an assignment or a subscript. */
import type { Variables } from '../shell-command.ts';

const PLAIN = /^\$\(\((?:[\w\s*/%()<>!&|^~?:,]|\+(?!\+)|-(?!-)|(?<=[=!<>])=|=(?==))*\)\)$/;

/** It sets no variable. */
export function setsNothing(text: string): boolean {
  return PLAIN.test(text);
}

/** All its names belong to the script and only ever contain integers. */
export function isPlainArithmetic(text: string, variables: Variables): boolean {
  const names = text.match(/(?<![\w$])[a-zA-Z_]\w*/g) ?? [];
  return PLAIN.test(text) && names.every((name) => variables.get(name)?.isNumber === true);
}
