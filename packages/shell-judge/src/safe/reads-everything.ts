/**
 * Reading whole trees from the workspace's root also reads hidden folders that commands may not name. So such a command
 * is only known to be harmless when it names the files.
 */
import { hasOption, optionsOf } from '../parse/options-of.ts';
import { argumentsOf, programOf, type ShellCommand } from '../shell-command.ts';
import { findParts } from '../parse/unwrap-command.ts';

/** A pattern with an extension, which does not match files of hidden folders: `*.ts`. */
const NAMES_KIND = /^\*\.\w+$/;

export function readsEverything(command: ShellCommand): boolean {
  const program = programOf(command).replace(/^[ef]grep$/, 'grep');
  switch (program) {
    case 'grep':
      return grepReadsEverything(command);
    case 'rg':
      return rgReadsEverything(command);
    case 'find':
      return findReadsEverything(command);
    case 'cp':
    case 'diff': {
      const options = optionsOf(command);
      const isDeep = hasOption(options, 'rRa', ['recursive', 'archive']);
      return isDeep && options.operands.some((word) => isRoot(word.value));
    }
    default:
      return false;
  }
}

function isRoot(path: string): boolean {
  return /^(?:\.?\/*)*$/.test(path);
}

function grepReadsEverything(command: ShellCommand): boolean {
  const options = optionsOf(command);
  if (!hasOption(options, 'r', ['recursive']) && !options.values.some((each) => each.value === 'recurse'))
    return false;
  const includes = options.values.filter((each) => each.option === 'include');
  if (includes.length > 0 && includes.every((each) => NAMES_KIND.test(each.value))) return false;
  const hasPattern = hasOption(options, 'e', ['regexp']);
  const paths = hasPattern ? options.operands : options.operands.slice(1);
  return paths.length === 0 || paths.some((word) => isRoot(word.value));
}

/** rg leaves out hidden folders unless an option includes them. */
function rgReadsEverything(command: ShellCommand): boolean {
  return hasOption(optionsOf(command), 'u.', ['hidden', 'unrestricted']);
}

/** Programs that print names and properties of files, not their contents. */
const LOOKS = /^(?:ls|stat|du|wc|file|basename|dirname|echo)$/;

function findReadsEverything(command: ShellCommand): boolean {
  const { own, started } = findParts(command);
  if (started.every((words) => LOOKS.test(words[0]?.value ?? ''))) return false;
  const [first] = own;
  const isFromRoot =
    first === undefined || first.value.startsWith('-') || own.some((word) => isRoot(word.value));
  const names = argumentsOf(command).map((word) => word.value);
  const namesKind = names.some(
    (value, at) => /^-i?name$/.test(value) && NAMES_KIND.test(names[at + 1] ?? ''),
  );
  return isFromRoot && (!namesKind || own.some((word) => /^-o(?:r)?$/.test(word.value)));
}
