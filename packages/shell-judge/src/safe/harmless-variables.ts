/**
 * Variables that a command line may set without asking. Any program may have a variable that runs, loads or writes
 * something (`GIT_TRACE`, `MALLOC_TRACE`, `RIPGREP_CONFIG_PATH`), so those that programs see are listed by name.
 */

import type { ShellAssignment, ShellCommand, ShellWord } from '../shell-command.ts';

/** Language, colours, verbosity; modes of frameworks; settings that only the project's own code reads. */
const HARMLESS =
  /^(?:CI|TZ|LANG|LANGUAGE|LC_\w+|COLUMNS|LINES|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|CLICOLOR(?:_FORCE)?|DEBUG|VERBOSE|QUIET|LOG_?LEVEL|SEED|SOURCE_DATE_EPOCH|DO_NOT_TRACK|HUSKY|NODE_ENV|BABEL_ENV|APP_ENV|RAILS_ENV|RACK_ENV|MIX_ENV|FLASK_(?:ENV|DEBUG|APP)|DJANGO_SETTINGS_MODULE|NEXT_TELEMETRY_DISABLED|NEXT_PUBLIC_\w+|REACT_APP_\w+|VITE_\w+|APP_\w+|TEST_\w+|UPDATE_SNAPSHOTS?|PORT|HOST|ENVIRONMENT|STAGE|VERSION|(?:BASE|API|APP|DATABASE|REDIS)_URL|PYTHON(?:UNBUFFERED|DONTWRITEBYTECODE|HASHSEED|IOENCODING|UTF8|FAULTHANDLER|ASYNCIODEBUG|DEVMODE)|RUST_(?:BACKTRACE|LOG|TEST_THREADS)|CARGO_TERM_COLOR|GO(?:OS|ARCH|MAXPROCS|GC|TRACEBACK|111MODULE)|CGO_ENABLED|OMP_NUM_THREADS|CUDA_VISIBLE_DEVICES|TOKENIZERS_PARALLELISM|GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|GIT_(?:OPTIONAL_LOCKS|TERMINAL_PROMPT)|FOO|BAR|BAZ|NAME|VALUE|foo|bar|[a-zA-Z])$/;

/** Options of Node that load and start nothing. */
export const NODE_FLAG =
  /^--(?:(?:max-old-space-size|max-semi-space-size|max-http-header-size|stack-trace-limit)=\d+|(?:unhandled-rejections|dns-result-order)=[\w-]+|enable-source-maps|experimental-strip-types|experimental-vm-modules|no-deprecation|no-warnings|throw-deprecation|trace-deprecation|trace-uncaught|trace-warnings)$/;
/** A folder of the workspace, whose code its programs run anyway. */
const OWN_FOLDER = /^(?:\.\/?|(?:\.\/)?\w[\w.-]*(?:\/\w[\w.-]*)*\/?)$/;

/** Variables that are harmless with these values only. */
const HARMLESS_VALUES: readonly (readonly [name: RegExp, isHarmless: (value: string) => boolean])[] = [
  [
    /^(?:EDITOR|VISUAL|PAGER|MANPAGER|GIT_(?:EDITOR|PAGER|SEQUENCE_EDITOR))$/,
    (value) => /^(?:cat|true|:|)$/.test(value),
  ],
  [/^NODE_OPTIONS$/, (value) => value.split(' ').every((flag) => NODE_FLAG.test(flag))],
  [
    /^(?:PYTHONPATH|NODE_PATH|PERL5LIB|RUBYLIB)$/,
    (value) => value.split(':').every((path) => OWN_FOLDER.test(path)),
  ],
  [/^(?:JAVA_TOOL_OPTIONS|MAVEN_OPTS|GRADLE_OPTS)$/, (value) => /^-Xm[sx]\d+[kmgKMG]?$/.test(value)],
];

function isHarmlessSetting(name: string, value: string): boolean {
  return HARMLESS_VALUES.some(([names, isHarmless]) => names.test(name) && isHarmless(value));
}

export function hasHarmlessValue({ name, value }: ShellAssignment): boolean {
  return value?.isLiteral === true && isHarmlessSetting(name, value.value);
}

/** `export NAME=value` */
export function exportsHarmlessValue(word: ShellWord): boolean {
  const at = word.value.indexOf('=');
  return word.isLiteral && at > 0 && isHarmlessSetting(word.value.slice(0, at), word.value.slice(at + 1));
}

/** For variables that a started program sees. */
export function isHarmlessVariable(name: string): boolean {
  return HARMLESS.test(name);
}

/**
 * Variables that the shell itself uses (bash(1), "Shell Variables"), and those that its programs see at once, because
 * they are in the environment already. Any other name belongs to the script until it is exported.
 */
const OBEYED =
  /^(?:BASH\w*|CDPATH|CHILD_MAX|COMP\w*|COPROC|DIRSTACK|EMACS|ENV|EXECIGNORE|FCEDIT|FIGNORE|FUNCNEST|GLOBIGNORE|HIST\w*|HOSTFILE|IFS|IGNOREEOF|INPUTRC|INSIDE_EMACS|MAIL\w*|OPTIND|PATH|POSIXLY_CORRECT|PROMPT_\w+|PS\d|READLINE_\w+|SHELL\w*|TIMEFORMAT|TMOUT|TMPDIR|auto_resume|histchars|HOME|USER|LOGNAME|PWD|OLDPWD|PAGER|(?:LD|DYLD|GIT|SSL|XDG|NPM|NODE|DEBIAN)_\w+)$|^npm_|_proxy$/i;

/** For variables that are only set, as in `x=1` or by a loop. */
export function isHarmlessToSet(name: string): boolean {
  return isHarmlessVariable(name) || !OBEYED.test(name);
}

/** Without a program the assignments apply to the shell, otherwise to the program. */
export function setsOnlyHarmless(command: ShellCommand): boolean {
  const mayHave = command.words.length === 0 ? isHarmlessToSet : isHarmlessVariable;
  return command.assignments.every(
    (each) => each.value?.isAmbiguous !== true && (mayHave(each.name) || hasHarmlessValue(each)),
  );
}
