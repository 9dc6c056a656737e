/**
 * The input of the rules: one simple command as the shell would run it, whatever construct contained it. The parser's
 * own tree is used only in `parse-shell.ts`.
 */

export interface ShellWord {
  /** As it was written. */
  readonly text: string;
  /**
   * The text without quotes and with known variables inserted: exact when `isLiteral`, otherwise a best guess for the
   * deny rules.
   */
  readonly value: string;
  /** The program gets exactly `value`, as one word. */
  readonly isLiteral: boolean;
  /** It has an unquoted `*`, `?` or `[…]`. */
  readonly isGlob: boolean;
  /** It has `$'…'` with an escaped quote: shells disagree on where it ends. */
  readonly isAmbiguous: boolean;
  /** Commands inside `$(…)`, `` `…` ``, `<(…)`. They are also judged separately. */
  readonly sources: readonly ShellCommand[];
  /** It has only expansions whose text the rules know to be harmless, such as `$?`. */
  readonly isHarmless: boolean;
  /** Each possible value, when it consists only of literals of the same script. */
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

/** The source of the command's standard input, when the script determines it. */
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
  /** More words follow that are still unknown, as after `xargs`. */
  readonly isOpen: boolean;
}

/** Properties of a whole script, whichever command causes them. */
export type ShellMark =
  /** A function that starts itself more than once or in the background. */
  | 'fork_bomb'
  /** `${x@P}` and similar, which expand a variable’s text again or show what the shell would make of it. */
  | 'prompt_expansion'
  /** It uses arithmetic or `[[`, which evaluate text again. */
  | 'evaluates_text'
  /** It has quoted text that would be a command if it were evaluated. */
  | 'hides_command'
  /** A shell runs text that is unknown before it runs. */
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

/** A command without words. */
export const NO_WORDS: ShellCommand = {
  words: [],
  assignments: [],
  redirects: [],
  input: null,
  via: [],
  isOpen: false,
};

/** PATH_MAX of Linux: nothing with a longer name can be started. */
const MAX_NAME = 4096;

/** The program's name without its folder, in lower case; empty for a command with only assignments or redirections. */
export function programOf(command: ShellCommand): string {
  const value = (command.words[0]?.value ?? '').slice(-MAX_NAME);
  return value.slice(value.lastIndexOf('/') + 1).toLowerCase();
}

/** The words after the program's name. */
export function argumentsOf(command: ShellCommand): readonly ShellWord[] {
  return command.words.slice(1);
}

/** What the script says about one of its variables. */
export interface Variable {
  /** Every value that the script assigns; empty when it also has others. */
  readonly values: readonly string[];
  /** Its value comes from the script and from judged commands, and not from a variable of the environment. */
  readonly isOwn: boolean;
  /** It only ever contains integers. */
  readonly isNumber: boolean;
  /** Ranges of the text where it surely has one of them; elsewhere it may be unset or come from the environment. */
  readonly certain: readonly { readonly from: number; readonly to: number }[];
}

export type Variables = ReadonlyMap<string, Variable>;
