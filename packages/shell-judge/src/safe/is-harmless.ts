/** Whether a command is known to be harmless: its program, its options, and no path out of the workspace. */
import { runsFile } from '../code-of.ts';
import { isGitInternal } from '../git-internals.ts';
import { isQuestion } from '../is-question.ts';
import { type Options, optionsOf } from '../parse/options-of.ts';
import { argumentsOf, literalWord, programOf, type ShellCommand, type ShellWord } from '../shell-command.ts';
import { ownWords, startsOther, unwrapCommand, XARGS_NUL } from '../parse/unwrap-command.ts';
import { INTERPRETERS, SHELLS, type Wrapper, WRAPPERS } from '../parse/wrappers.ts';
import { argumentPaths, gitTexts, writtenPathsOf } from '../path-words.ts';
import { ARCHIVES } from './archives.ts';
import { GIT } from './git.ts';
import { INSPECTORS } from './inspectors.ts';
import { isComparison } from './is-comparison.ts';
import { knownOptions } from './known-options.ts';
import { setsOnlyHarmless } from './harmless-variables.ts';
import { hasKnownChoices, isInside, isInsidePath } from './is-inside.ts';
import { LANGUAGE_RUNNERS } from './language-runners.ts';
import { PROJECT_RUNNERS } from './project-runners.ts';
import { READERS } from './readers.ts';
import { readsEverything } from './reads-everything.ts';
import { type SafeProgram, valuesOf } from './safe-program.ts';
import { SCRIPT_PROGRAMS } from './script-programs.ts';

const TABLES = [READERS, INSPECTORS, ARCHIVES, GIT, SCRIPT_PROGRAMS, PROJECT_RUNNERS, LANGUAGE_RUNNERS];

/** Folders of system programs: `/bin/ls` is `ls`, `./ls` is not. */
const SYSTEM_FOLDER = /^(?:\/usr)?\/bin\/[\w.+-]+$/;
/** Programs of the project's packages, and its wrappers of build tools, as `npm test` starts them. */
const PROJECT_PROGRAM = /^(?:\.\/)?(?:node_modules\/\.bin\/[\w.-]+|gradlew|mvnw)$/;

/** Files of the system that say what it is, and nothing about its users. */
const ABOUT_THE_MACHINE =
  /^\/(?:etc\/(?:alpine-release|debian_version|lsb-release|os-release)|proc\/(?:cpuinfo|loadavg|meminfo|uptime|version))$/;

const LOOKS = new Set(
  'ls cat tac nl head tail wc stat file du cut grep egrep fgrep zgrep md5sum sha1sum sha256sum sha512sum cksum readlink realpath basename dirname echo strings od hexdump zcat xzcat bzcat diff cmp tree cd find'.split(
    ' ',
  ),
);

/** @param functions names that the script defines; their bodies are judged separately. */
export function isHarmless(command: ShellCommand, functions: ReadonlySet<string>): boolean {
  if (!hasHarmlessRedirects(command)) return false;
  const [name] = command.words;
  if (!hasHarmlessAssignments(command)) return false;
  if (name === undefined) return true;
  if (!name.isLiteral || name.isGlob || command.words.some((word) => word.isAmbiguous)) return false;
  if (functions.has(name.value))
    return !command.isOpen && argumentsOf(command).every((word) => word.isLiteral && isInside(word));
  const program = programOf(command);
  if (name.value !== program && !SYSTEM_FOLDER.test(name.value))
    return PROJECT_PROGRAM.test(name.value) && isOfProject(command);
  return isHarmlessProgram(command, program);
}

function isHarmlessProgram(command: ShellCommand, program: string): boolean {
  if (isQuestion(command) || isComparison(command)) return true;
  if (SHELLS.has(program)) return isShellOfLiteral(command) || checksSyntax(command);
  const row = TABLES.map((table) => table.get(program)).find((each) => each !== undefined);
  const wrapper = WRAPPERS.get(program);
  if (wrapper && row === undefined) return isPlainWrapper(command, wrapper);
  return row !== undefined && passes(command, row);
}

/** `IFS= read` starts no program. */
function hasHarmlessAssignments(command: ShellCommand): boolean {
  if (programOf(command) !== 'read') return setsOnlyHarmless(command);
  const assignments = command.assignments.filter(({ name, value }) => name !== 'IFS' || value?.isAmbiguous);
  return setsOnlyHarmless({ ...command, assignments });
}

/** Targets are inside the workspace; text in here-documents is known. */
function hasHarmlessRedirects(command: ShellCommand): boolean {
  const { input } = command;
  if (input?.kind === 'text' && !input.isLiteral) return false;
  return command.redirects.every(
    ({ operator, target }) => target === null || isDescriptor(operator, target) || isInside(target),
  );
}

function isDescriptor(operator: string, target: ShellWord): boolean {
  return (operator === '>&' || operator === '<&') && /^(?:\d+-?|-)$/.test(target.value);
}

function passes(command: ShellCommand, row: SafeProgram): boolean {
  if (command.isOpen && row.isOpenSafe !== true && !isFedByFind(command)) return false;
  if (readsCode(command)) return false;
  const options = optionsOf(command);
  return (
    argumentsOf(command).every((word) => isKnownWord(word, command, row)) &&
    row.options(valuesOf(command)) &&
    argumentPaths(command).every(
      (word) =>
        (isLook(command) && word.isLiteral && ABOUT_THE_MACHINE.test(word.value)) ||
        (isInside(word) && (isLook(command) || !isGitInternal(word.value))),
    ) &&
    (row.isText === true || !carriesPath(command, options)) &&
    !readsEverything(command) &&
    (row.when?.(command) ?? true)
  );
}

function readsCode(command: ShellCommand): boolean {
  return INTERPRETERS.test(programOf(command)) && command.input !== null && !runsFile(command);
}

/** A literal, a word of known values, or text that is only printed. */
function isKnownWord(word: ShellWord, command: ShellCommand, row: SafeProgram): boolean {
  if (word.isLiteral && !word.isGlob) return true;
  if (isMessage(word, command)) return true;
  if (row.isText === true) return (word.isHarmless || word.isLiteral) && (!word.isGlob || isInside(word));
  if (INTERPRETERS.test(programOf(command))) return false;
  if (!word.isLiteral) return hasKnownChoices(word);
  // A file name matched by a leading `*` may look like an option, but contains no slash, so it leads nowhere else.
  return /^[\w./@]/.test(word.text) || (row.startsPrograms !== true && row.when === undefined);
}

/** `git commit -m "$(cat <<'X' …)"`: quoted, so that it stays one word. */
function isMessage(word: ShellWord, command: ShellCommand): boolean {
  return (
    programOf(command) === 'git' &&
    word.isHarmless &&
    /^".*"$/s.test(word.text) &&
    gitTexts(command).has(word)
  );
}

function isOfProject(command: ShellCommand): boolean {
  const program = programOf(command);
  const row = PROJECT_RUNNERS.get(program) ?? LANGUAGE_RUNNERS.get(program);
  return row !== undefined && !INTERPRETERS.test(program) && passes(command, row);
}

/** An option with a path out of the workspace or to git’s own files: `--file=/etc/passwd`, `-X/etc`. */
function carriesPath(command: ShellCommand, options: Options): boolean {
  const taken = new Set(options.values.map((each) => each.word));
  return argumentsOf(command).some((word) => {
    const long = /^--[\w-]+=(.*)$/s.exec(word.value)?.[1];
    if (long !== undefined) return !isInsidePath(long) && !/^\/[^/]*\/$/.test(long);
    return !taken.has(word) && /^-\w+(?:[~/]|\.\.|\.git\b)/i.test(word.value);
  });
}

/** Paths that `find` passes on from below the workspace; `find`'s own words determine them. They are only read. */
function isFedByFind(command: ShellCommand): boolean {
  if (!isLook(command) || writtenPathsOf(command).length > 0) return false;
  if (command.via.at(-1) === 'xargs') return isFedByNames(command);
  return command.via.at(-1) === 'find' && command.words.slice(1).some((word) => word.value === '{}');
}

/** It only reads, whatever paths it gets. */
function isLook(command: ShellCommand): boolean {
  return LOOKS.has(programOf(command));
}

/** The words that `-exec` would have. */
const EXECUTES = ['-exec', 'cat', '{}', ';'].map(literalWord);

/**
 * `find src -print0 | xargs -0 …`: names end only with NUL and start with the folder, so none looks like an option or
 * like two names.
 */
function isFedByNames({ input, via }: ShellCommand): boolean {
  if (!via.includes(XARGS_NUL) || input?.kind !== 'pipe' || input.from.length !== 1) return false;
  const [source] = input.from;
  if (source === undefined || programOf(source) !== 'find') return false;
  const [folder, ...tests] = argumentsOf(source).map((word) => word.value);
  return (
    tests.at(-1) === '-print0' &&
    /^[\w.]/.test(folder ?? '') &&
    !readsEverything({ ...source, words: [...source.words, ...EXECUTES] })
  );
}

/** `bash -n run.sh` runs nothing of the file. */
function checksSyntax(command: ShellCommand): boolean {
  const [option, file, ...rest] = argumentsOf(command);
  const isOfFile = file !== undefined && /^\w/.test(file.value) && file.isLiteral && isInside(file);
  return option?.value === '-n' && isOfFile && rest.length === 0 && !command.isOpen;
}

/** `sh -c` with a known text: its commands are judged separately. */
function isShellOfLiteral(command: ShellCommand): boolean {
  const [option, script, ...rest] = argumentsOf(command);
  const isPlain = /^-[eux]*c$/.test(option?.value ?? '') && script?.isLiteral === true && rest.length === 0;
  return isPlain && !command.isOpen && ['sh', 'bash', 'dash'].includes(programOf(command));
}

/** A harmless wrapper's own words: only options that affect time and order. */
function isPlainWrapper(command: ShellCommand, { harmlessWith }: Wrapper): boolean {
  const args = argumentsOf(command);
  if (harmlessWith === undefined || args.length === 0) return false;
  const program = programOf(command);
  // `npx x` fetches x when it is not installed.
  if (program === 'npx' && !/^--no(?:-install)?$/.test(args[0]?.value ?? '')) return false;
  if (program !== 'command' && !startsOther(program, args)) return false;
  const [inner] = unwrapCommand(command).commands;
  const own = ownWords(command, inner?.words ?? []).map((word) => word.value);
  // `env -` is `env -i`, without the variables that keep git from programs that a repository names.
  return !own.includes('-') && knownOptions(harmlessWith)(own);
}
