/**
 * What an interpreter's arguments say about the code that it runs: a file, files that options load first, or its input.
 */
import type { ShellWord } from './shell-command.ts';
import { SHELLS } from './parse/wrappers.ts';

export interface InterpreterScript {
  readonly words: readonly ShellWord[];
  /** Files that a word refers to without being their name. */
  readonly names: readonly string[];
  /** `code` is code in its arguments. */
  readonly reads: 'file' | 'code' | 'input';
}

/** Builtins that run the contents of a file. */
export const READS_TEXT = new Set(['source', '.']);

/**
 * Greatest number of operands that may be the script: words such as `run` and values of unknown options may precede it.
 */
const MAX_OPERANDS = 3;

export function scriptOf(program: string, args: readonly ShellWord[]): InterpreterScript {
  const words: ShellWord[] = [];
  const names: string[] = [];
  const runsAll = args.some((word) => word.value === '--test');
  let operands = 0;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] as ShellWord;
    const next = args[at + 1];
    switch (kindOf(program, word.value)) {
      case 'code':
        return { words, names, reads: 'code' };
      case 'module':
        return { words, names: moduleFiles(next?.value), reads: 'file' };
      case 'loads':
        if (next) words.push(next);
        at += 1;
        break;
      case 'value':
        at += 1;
        break;
      case 'option':
        words.push(...loadedBy(word));
        break;
      case 'operand':
        words.push(word);
        operands += 1;
        names.push(...completed(program, word.value));
        if (!runsAll && isScript(program, word.value, operands)) return { words, names, reads: 'file' };
    }
  }
  return { words, names, reads: operands > 0 ? 'file' : 'input' };
}

type ArgumentRole = 'code' | 'module' | 'loads' | 'value' | 'option' | 'operand';

function kindOf(program: string, value: string): ArgumentRole {
  if (!/^[-+]./.test(value)) return value === '-' || value === '/dev/stdin' ? 'option' : 'operand';
  if (isCode(program, value)) return 'code';
  if (isPython(program) && value === '-m') return 'module';
  if (loadsNext(program, value)) return 'loads';
  return takesValue(program, value) ? 'value' : 'option';
}

const isPython = (program: string): boolean => /^(?:python|pypy)/.test(program);

/** The next word is code, not a file. */
function isCode(program: string, option: string): boolean {
  if (SHELLS.has(program)) return /^-[a-zA-Z]*c[a-zA-Z]*$|^--command$/.test(option);
  if (isPython(program)) return /^-[bBdEhiIOqsSuvx]*c/.test(option);
  if (/^(?:perl|ruby)/.test(program)) return /^-[acFilnpsw0-9]*[eE]/.test(option);
  if (program.startsWith('php')) return option === '-r';
  return /^(?:-e|-p|-pe|-c|--eval|--print|--execute)$|^--(?:eval|print)=/.test(option);
}

/** The next word is loaded before the script. */
function loadsNext(program: string, option: string): boolean {
  if (SHELLS.has(program)) return /^--(?:rcfile|init-file)$/.test(option);
  if (isPython(program)) return false;
  if (program === 'gdb') return /^(?:-x|--command)$/.test(option);
  return /^(?:-r|-f|--(?:require|import|loader|experimental-loader|file|preload))$/.test(option);
}

function takesValue(program: string, option: string): boolean {
  if (SHELLS.has(program)) return /^[-+][oO]$/.test(option);
  if (isPython(program)) return /^-[WXQ]$/.test(option);
  return /^(?:-I|-C|--conditions|--env-file)$/.test(option);
}

/** The file in `--require=./hook.js`. */
function loadedBy(word: ShellWord): readonly ShellWord[] {
  const value = /^--?[\w-]+=(.*)$/s.exec(word.value)?.[1];
  return value !== undefined && isFileLike(value) ? [{ ...word, value, text: value }] : [];
}

export function isFileLike(value: string): boolean {
  return value.includes('/') || /\.[A-Za-z]\w*$/.test(value);
}

function isScript(program: string, value: string, operands: number): boolean {
  if (SHELLS.has(program) || READS_TEXT.has(program) || isPython(program)) return true;
  return isFileLike(value) || operands >= MAX_OPERANDS;
}

/** `node app` runs app.js. */
function completed(program: string, value: string): readonly string[] {
  return program === 'node' && !isFileLike(value) ? [`${value}.js`] : [];
}

function moduleFiles(name = ''): readonly string[] {
  if (!/^[\w.]+$/.test(name)) return [];
  const path = name.replaceAll('.', '/');
  return [`${path}.py`, `${path}/__main__.py`];
}
