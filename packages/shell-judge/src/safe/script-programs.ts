/** sed, awk, find and xargs: harmless only with scripts and tests of a form that cannot start or write anything. */
import { optionsOf } from '../parse/options-of.ts';
import { programOf, type ShellCommand, type ShellWord } from '../shell-command.ts';
import { FIND_TEXT } from '../text-arguments.ts';
import { findParts, ownWords, unwrapCommand } from '../parse/unwrap-command.ts';
import { safePrograms } from './safe-program.ts';

const ADDRESS = String.raw`(?:\d+|\$|\/(?:[^/\\\n]|\\.)*\/)`;
const SED_STEP = new RegExp(
  String.raw`^\s*(?:${ADDRESS}(?:,\s*[+~]?${ADDRESS})?)?\s*!?(?:[pdqGhHgxnN=]|[aic] [^\\\n]*|q\d+|s([/|,#@:])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI\d]*|y\/[^/\n]*\/[^/\n]*\/)\s*$`,
);

/**
 * Steps are separated by `;`, which may also be inside an expression: then the step does not match and people are
 * asked.
 */
function isHarmlessSed(input: ShellCommand): boolean {
  const command = { ...input, words: input.words.map(withoutSuffix) };
  const options = optionsOf(command, ['expression']);
  if ([...options.letters].some((letter) => !'nrEeizusb'.includes(letter))) return false;
  if (
    options.names.some(
      (name) =>
        !/^(?:quiet|silent|regexp-extended|expression|in-place|null-data|posix|sandbox|debug|unbuffered|separate)$/.test(
          name,
        ),
    )
  )
    return false;
  const expressions = options.values
    .filter((each) => each.option === 'e' || each.option === 'expression')
    .map((each) => each.value);
  const scripts = expressions.length > 0 ? expressions : [options.operands[0]?.value ?? ''];
  return scripts.every(
    (script) =>
      SED_STEP.test(script) ||
      script.split(/[;\n]/).every((step) => step.trim() === '' || SED_STEP.test(step)),
  );
}

/** `-i.bak` keeps the old file beside the new one. */
function withoutSuffix(word: ShellWord): ShellWord {
  return /^-[nrEsuz]*i\.[\w~]+$/.test(word.value) ? { ...word, value: '-i' } : word;
}

/** A number ends the comparison: `print > 5 "/../x"` names a file. */
const COMPARISON =
  /(?:\$\w+|\bN[RF]|\blength(?:\([^()]*\))?)\s*>=?\s*[\d.]+(?=\s*(?:$|[){};&|?,]))|\w+\s*>=\s*\d+/g;

function isHarmlessAwk(command: ShellCommand): boolean {
  const { letters, names, operands, values } = optionsOf(command);
  if (names.length > 0 || [...letters].some((letter) => !'Fv'.includes(letter))) return false;
  const script = operands[0]?.value ?? '';
  if (values.some((each) => /[|@]|\/inet/.test(each.value) && each.option !== 'F')) return false;
  // Assignments among the operands set variables; what follows is a path. Only a print writes to a file.
  const writes = /print/.test(script) && script.replaceAll(COMPARISON, '').includes('>');
  return (
    !writes &&
    !/system[\s\\]*\(|getline|ENVIRON|SYMTAB|FUNCTAB|PROCINFO|ARGV|@|\/inet|close\s*\(|fflush/.test(script) &&
    !/(?<!\|)\|(?!\|)/.test(script)
  );
}

/** For sed or awk: the command's program only reads and prints, or edits in place. */
export function isHarmlessScript(command: ShellCommand): boolean {
  return programOf(command).endsWith('sed') ? isHarmlessSed(command) : isHarmlessAwk(command);
}

const FIND_TESTS =
  /^-(?:name|iname|path|ipath|wholename|regex|iregex|regextype|type|xtype|size|empty|mtime|mmin|ctime|cmin|atime|amin|newer\w*|maxdepth|mindepth|depth|d|prune|o|or|a|and|not|print|print0|printf|ls|perm|user|group|nouser|nogroup|links|readable|writable|executable|true|false|mount|xdev|quit|P|E|exec|execdir|daystart|noleaf|inum|samefile|follow0)$/;

/** Commands of `-exec` are judged separately. */
function isHarmlessFind(command: ShellCommand): boolean {
  return findParts(command).own.every(
    (word, at, own) =>
      !/^-[a-zA-Z]/.test(word.value) ||
      FIND_TESTS.test(word.value) ||
      FIND_TEXT.has(own[at - 1]?.value ?? ''),
  );
}

function isHarmlessXargs(command: ShellCommand): boolean {
  const [inner] = unwrapCommand(command).commands;
  const own = ownWords(command, inner?.words ?? []);
  const { letters, names } = optionsOf({ ...command, words: [...command.words.slice(0, 1), ...own] });
  return (
    names.every((name) =>
      /^(?:null|no-run-if-empty|max-args|max-lines|verbose|max-procs|delimiter)$/.test(name),
    ) && [...letters].every((letter) => '0nrtLPIdsxi'.includes(letter))
  );
}

export const SCRIPT_PROGRAMS = safePrograms({
  sed: { when: isHarmlessSed },
  'awk gawk mawk': { when: isHarmlessAwk },
  find: { when: isHarmlessFind },
  xargs: { when: isHarmlessXargs },
});
