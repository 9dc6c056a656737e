/** Which words of an interpreter's command may be code: none when it runs a file with a plain name. */
import { argumentsOf, literalWord, programOf, type ShellCommand, type ShellWord } from './shell-command.ts';
import { INTERPRETERS } from './parse/wrappers.ts';

/** Letters and names after which interpreters take code or load it. In doubt a word is code. */
const CODE_OPTION = /^-(?!-)\w*[ceEprRnMBxl]|^--(?:eval|print|exec|command|require|import|run|loader|init)/;
/** Subcommands of interpreters that read code from an argument or their input. */
const SUBCOMMANDS = new Set(['eval', 'inspect', 'debug', 'repl', 'run', 'x', 'exec']);
const FILE = /^(?:\.{1,2}\/)*[\w@][\w@.+/-]*$/;

/** `node build.js ENV=prod`: the words after the file's name are its own arguments, and its input is data. */
export function runsFile(command: ShellCommand): boolean {
  if (!INTERPRETERS.test(programOf(command))) return false;
  const args = argumentsOf(command);
  const first = args.find((word) => !word.value.startsWith('-'));
  return (
    first !== undefined &&
    first.isLiteral &&
    !SUBCOMMANDS.has(first.value) &&
    FILE.test(first.value) &&
    !args.some((word) => CODE_OPTION.test(word.value))
  );
}

export function codeWordsOf(command: ShellCommand): readonly ShellWord[] {
  if (runsFile(command)) return [];
  const { input } = command;
  const args = argumentsOf(command);
  const isScript = INTERPRETERS.test(programOf(command)) && input?.kind === 'text';
  return isScript ? [...args, literalWord(input.text)] : args;
}
