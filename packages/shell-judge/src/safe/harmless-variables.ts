/**
 * Variables that a command line may set without asking. Any program may have a variable that runs, loads or writes
 * something (`GIT_TRACE`, `MALLOC_TRACE`, `RIPGREP_CONFIG_PATH`), so those that programs see are listed by name.
 */

import type { ShellCommand } from '../shell-command.ts';

/** Language, colours, verbosity; modes of frameworks; settings that only the project's own code reads. */
const HARMLESS =
  /^(?:CI|TZ|LANG|LANGUAGE|LC_\w+|COLUMNS|LINES|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|CLICOLOR(?:_FORCE)?|DEBUG|VERBOSE|QUIET|LOG_?LEVEL|SEED|SOURCE_DATE_EPOCH|DO_NOT_TRACK|HUSKY|NODE_ENV|BABEL_ENV|APP_ENV|RAILS_ENV|RACK_ENV|MIX_ENV|FLASK_(?:ENV|DEBUG|APP)|DJANGO_SETTINGS_MODULE|NEXT_TELEMETRY_DISABLED|NEXT_PUBLIC_\w+|REACT_APP_\w+|VITE_\w+|APP_\w+|TEST_\w+|UPDATE_SNAPSHOTS?|PORT|HOST|ENVIRONMENT|STAGE|VERSION|(?:BASE|API|APP|DATABASE|REDIS)_URL|PYTHON(?:UNBUFFERED|DONTWRITEBYTECODE|HASHSEED|IOENCODING|UTF8|FAULTHANDLER|ASYNCIODEBUG|DEVMODE)|RUST_(?:BACKTRACE|LOG|TEST_THREADS)|CARGO_TERM_COLOR|GO(?:OS|ARCH|MAXPROCS|GC|TRACEBACK|111MODULE)|CGO_ENABLED|OMP_NUM_THREADS|CUDA_VISIBLE_DEVICES|TOKENIZERS_PARALLELISM|GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|GIT_(?:OPTIONAL_LOCKS|TERMINAL_PROMPT)|FOO|BAR|BAZ|NAME|VALUE|foo|bar|[a-zA-Z])$/;

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
  return command.assignments.every(({ name, value }) => value?.isAmbiguous !== true && mayHave(name));
}
