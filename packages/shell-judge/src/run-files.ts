/**
 * Files that a command runs or passes to an interpreter, as far as its text names them: a person's permission applies
 * to their contents. Files that these run in turn are not followed. In doubt a word is one of them.
 */
import { allSources, inputSources } from './all-sources.ts';
import { byWord } from './by-word.ts';
import { expandCommands } from './parse/expand-commands.ts';
import { MAX_COMMAND_LENGTH } from './parse/fold-command.ts';
import { wordsAfter } from './parse/options-of.ts';
import { pathWordsOf } from './path-words.ts';
import { argumentsOf, programOf, type ShellCommand, type ShellWord } from './shell-command.ts';
import { isFileLike, READS_TEXT, scriptOf } from './interpreter-script.ts';
import { INTERPRETERS, SHELLS } from './parse/wrappers.ts';

/** What a command's text says about the files that it runs. */
export interface RunFiles {
  /** Paths as the command writes them: absolute, or relative to the folder that it runs in. */
  readonly paths: readonly string[];
  /** Why it may run other files, or null. */
  readonly open: string | null;
}

/** Greatest number of folders that a command may have changed to before it runs something. */
const MAX_FOLDERS = 8;

const UNREADABLE = 'the command cannot be read to its end';
const UNKNOWN_WORD = 'which files it runs is known only when it runs';
const UNKNOWN_FOLDER = 'the folder that it runs them in is known only when it runs';

/** System files, which only their owners can write, and words that are no files. */
const IS_NONE = /^\/(?:usr|bin|sbin|lib|lib64|dev|proc)\/|:\/\//;

/** Options whose value is a script. */
const SCRIPT_FILE_OPTIONS = byWord({
  'awk gawk mawk nawk sed gsed psql': ['-f', '--file'],
  jq: ['-f', '--from-file'],
  'make gmake': ['-f', '--file', '--makefile'],
  xargs: ['-a', '--arg-file'],
});

/** Files of a project that determine what its programs run. */
const PROJECT_FILES = byWord({
  'make gmake': ['GNUmakefile', 'makefile', 'Makefile'],
  'npm npx pnpm yarn bun bunx': ['package.json'],
  rake: ['Rakefile'],
  just: ['justfile', 'Justfile', '.justfile'],
  cargo: ['Cargo.toml', 'build.rs'],
  gradle: ['build.gradle', 'build.gradle.kts'],
  mvn: ['pom.xml'],
  ant: ['build.xml'],
  cmake: ['CMakeLists.txt'],
  tox: ['tox.ini'],
  nox: ['noxfile.py'],
});

/** Options of project programs that select another folder. */
const FOLDER_OPTIONS = ['-C', '--directory', '--prefix', '--cwd', '--dir'];

interface CommandFiles {
  readonly words: readonly ShellWord[];
  /** Files that follow from the program without any word of the command. */
  readonly names: readonly string[];
  /** Some words are still unknown, as after `xargs`. */
  readonly isOpen: boolean;
}

const NOTHING: CommandFiles = { words: [], names: [], isOpen: false };

export function filesRunBy(command: string): RunFiles {
  if (command.length > MAX_COMMAND_LENGTH) return { paths: [], open: UNREADABLE };
  const shell = expandCommands(command);
  let open = shell.problem !== null || shell.marks.has('unknown_script') ? UNREADABLE : null;
  const folders: string[] = [''];
  const paths = new Set<string>();
  for (const each of shell.commands) {
    if (!enterFolders(folders, each)) open ??= UNKNOWN_FOLDER;
    const found = filesOf(each);
    if (found.isOpen) open ??= UNKNOWN_WORD;
    const names = [...found.names];
    for (const word of found.words) {
      const values = valuesOf(word);
      if (values === null) open ??= UNKNOWN_WORD;
      else names.push(...values);
    }
    const own = [...folders, ...optionFolders(each).flatMap((to) => folders.map((from) => joined(from, to)))];
    for (const name of names.filter((path) => path !== '' && path !== '-' && !IS_NONE.test(path)))
      for (const folder of own) paths.add(joined(folder, name));
  }
  return { paths: [...paths], open };
}

/** Every value that the word can have; null when they are unknown. */
function valuesOf(word: ShellWord): readonly string[] | null {
  if (word.text.startsWith('~') || word.isGlob || word.value.includes('{}')) return null;
  return word.isLiteral ? [word.value] : word.choices;
}

export function joined(folder: string, path: string): string {
  const plain = path.replace(/^(?:\.\/+)+/, '');
  return folder === '' || path.startsWith('/') ? plain : `${folder}/${plain}`;
}

/** Adds all folders that it may be in now, because any `cd` may run in a subshell or fail. False when unknown. */
export function enterFolders(folders: string[], command: ShellCommand): boolean {
  const program = programOf(command);
  const isWrapped = program === 'env' || program === 'sudo';
  if (program !== 'cd' && program !== 'pushd' && !isWrapped) return true;
  const named = isWrapped
    ? wordsAfter(argumentsOf(command), ['-C', '--chdir', '-D'])
    : argumentsOf(command)
        .filter((word) => !/^-[A-Za-z@]+$|^--$/.test(word.value))
        .slice(0, 1);
  if (named.length === 0) return isWrapped;
  const targets = named.map(valuesOf);
  if (targets.some((values) => values === null || values.includes('-'))) return false;
  const entered = targets
    .flatMap((values) => values ?? [])
    .flatMap((to) => folders.map((at) => joined(at, to)));
  const fresh = entered.filter((folder) => !folders.includes(folder));
  folders.push(...fresh.slice(0, MAX_FOLDERS - folders.length));
  return fresh.every((folder) => folders.includes(folder));
}

function optionFolders(command: ShellCommand): readonly string[] {
  if (!PROJECT_FILES.has(programOf(command))) return [];
  return wordsAfter(argumentsOf(command), FOLDER_OPTIONS).flatMap((word) => valuesOf(word) ?? []);
}

function filesOf(command: ShellCommand): CommandFiles {
  const [name] = command.words;
  if (name === undefined) return NOTHING;
  const program = programOf(command);
  const itself = valuesOf(name)?.filter((value) => value.includes('/'));
  const options = wordsAfter(argumentsOf(command), SCRIPT_FILE_OPTIONS.get(program) ?? []);
  const isMakefileNamed = options.length > 0 && /^g?make$/.test(program);
  const names = isMakefileNamed ? [] : (PROJECT_FILES.get(program) ?? []);
  const more = argumentFiles(program, command);
  return {
    words: [...options, ...more.words],
    names: [...(itself ?? []), ...names, ...more.names],
    isOpen: itself === undefined || more.isOpen,
  };
}

function argumentFiles(program: string, command: ShellCommand): CommandFiles {
  if (program === 'go' || program === 'pytest') return operandFiles(command);
  // Its words are judged and searched separately.
  if (program === 'eval') return { ...NOTHING, words: substituted(argumentsOf(command)) };
  const reads = SHELLS.has(program) || INTERPRETERS.test(program) || READS_TEXT.has(program);
  return reads ? interpreted(command) : NOTHING;
}

/** Operands that look like files: `go run x.go`, `pytest tests/x.py`. */
function operandFiles(command: ShellCommand): CommandFiles {
  const words = argumentsOf(command).filter(
    (word) => !word.value.startsWith('-') && /\.[a-z]+(?:::\S*)?$/i.test(word.value),
  );
  return {
    ...NOTHING,
    words: words.map((word) => ({ ...word, value: word.value.replace(/::.*$/, '') })),
  };
}

/** The script of an interpreter, and what its options load; without a script, the sources of its input. */
function interpreted(command: ShellCommand): CommandFiles {
  const args = argumentsOf(command);
  const { words, names, reads } = scriptOf(programOf(command), args);
  const fed = reads === 'input' ? fedWords(command) : [];
  return {
    words: [...words, ...fed, ...substituted(args)],
    names,
    isOpen: command.isOpen && reads === 'input',
  };
}

/** The files that its input is read from, through any number of steps. */
function fedWords({ input }: ShellCommand): readonly ShellWord[] {
  if (input?.kind === 'file') return input.target ? [input.target] : [];
  return [...allSources(inputSources(input))].flatMap(readWords);
}

/** `bash <(cat x)`, `eval "$(cat x)"`. */
function substituted(args: readonly ShellWord[]): readonly ShellWord[] {
  return [...allSources(args.flatMap((word) => word.sources))].flatMap(readWords);
}

function readWords(source: ShellCommand): readonly ShellWord[] {
  const { input } = source;
  return [...pathWordsOf(source), ...(input?.kind === 'file' && input.target ? [input.target] : [])];
}

/** Arguments of a program without a shell that can be workspace files: `x.yaml`, `--input=x.json`, `@x`, `file://x`. */
export function filesHandedTo(args: readonly string[]): RunFiles {
  const paths = args
    .map((arg) => arg.replace(/^--?[\w-]+=/, '').replace(/^(?:@|fileb?:\/\/)/, ''))
    .filter((arg) => isFileLike(arg) && !/^[-~]|:\/\/|[\s\0]/.test(arg) && !IS_NONE.test(arg))
    .map((arg) => joined('', arg));
  return { paths: [...new Set(paths)], open: null };
}
