/**
 * What the rules look at: one simple command as the shell would run it, whatever construct it stood in.
 * The parser's own tree stays behind `parse-shell.ts`.
 */

export interface ShellWord {
  /** As it was written. */
  readonly text: string;
  /** Quotes removed and known variables put in: exact when `isLiteral`, a best guess for the deny rules when not. */
  readonly value: string;
  /** The program gets exactly `value`, as one word. */
  readonly isLiteral: boolean;
  /** Has an unquoted `*`, `?` or `[…]`. */
  readonly isGlob: boolean;
  /** Has `$'…'` with an escaped quote: shells disagree on where it ends. */
  readonly isAmbiguous: boolean;
  /** Commands inside `$(…)`, `` `…` ``, `<(…)`. They are judged on their own, too. */
  readonly sources: readonly ShellCommand[];
  /** Only expansions whose text the rules know to be harmless, such as `$?`. */
  readonly isHarmless: boolean;
  /** Each possible value, when it comes from literals of the same script only. */
  readonly choices: readonly string[] | null;
}

export interface ShellAssignment {
  readonly name: string;
  readonly value: ShellWord | null;
}

export interface ShellRedirect {
  readonly operator: string;
  readonly fd: number | null;
  readonly target: ShellWord | null;
}

/** Where the command's standard input comes from, when the script says so. */
export type ShellInput =
  | { readonly kind: 'pipe'; readonly from: readonly ShellCommand[] }
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly isLiteral: boolean;
      readonly sources: readonly ShellCommand[];
    }
  | { readonly kind: 'file'; readonly target: ShellWord | null };

export interface ShellCommand {
  readonly words: readonly ShellWord[];
  readonly assignments: readonly ShellAssignment[];
  readonly redirects: readonly ShellRedirect[];
  readonly input: ShellInput | null;
  /** Programs that start this one: `sudo`, `xargs`, `sh -c`, outermost first. */
  readonly via: readonly string[];
  /** More words follow that nobody knows yet, as after `xargs`. */
  readonly isOpen: boolean;
}

/** What a script does somewhere in it, whichever command does it. */
export type ShellMark =
  /** A function that starts itself more than once or in the background. */
  | 'fork_bomb'
  /** `${x@P}` and its like, which expand a variable’s text once more or tell what the shell would make of it. */
  | 'prompt_expansion'
  /** Uses arithmetic or `[[`, which evaluate text once more. */
  | 'evaluates_text'
  /** Has quoted text that would be a command if it were evaluated. */
  | 'hides_command'
  /** A shell is given text that is not known before it runs. */
  | 'unknown_script';

export interface ParsedShell {
  readonly commands: readonly ShellCommand[];
  /** Names of functions that the script defines; their bodies are among `commands`. */
  readonly functions: ReadonlySet<string>;
  readonly marks: ReadonlySet<ShellMark>;
  /** Why the text cannot be judged, or null. */
  readonly problem: string | null;
}

/** A word that is exactly `value`. */
export function literalWord(value: string): ShellWord {
  return {
    text: value,
    value,
    isLiteral: true,
    isGlob: false,
    isAmbiguous: false,
    sources: [],
    isHarmless: true,
    choices: null,
  };
}

/** A command without a word. */
export const NO_WORDS: ShellCommand = {
  words: [],
  assignments: [],
  redirects: [],
  input: null,
  via: [],
  isOpen: false,
};

/** PATH_MAX of Linux: nothing that is named by more can be started. */
const MAX_NAME = 4096;

/** The program's name without its folder, in lower case; empty for a command of assignments or redirections only. */
export function programOf(command: ShellCommand): string {
  const value = (command.words[0]?.value ?? '').slice(-MAX_NAME);
  return value.slice(value.lastIndexOf('/') + 1).toLowerCase();
}

/** The words after the program's. */
export function argumentsOf(command: ShellCommand): readonly ShellWord[] {
  return command.words.slice(1);
}
