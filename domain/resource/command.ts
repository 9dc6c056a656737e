/** Describes the command of an operation: words, flags and columns, as data from which `cli/` makes commands. */

/** The properties of a flag that do not follow from the field that it fills. */
interface FlagParts {
  /**
   * When absent, that of the field in the body, otherwise `text`. `texts` takes several words, `commas` one word with
   * commas in it.
   */
  readonly kind?: keyof Values;
  readonly choices?: readonly string[];
  readonly required?: true;
  /** Flags that cannot be used with it, without their dashes. */
  readonly conflicts?: readonly string[];
  /** The flag without which it does nothing. */
  readonly needs?: string;
  readonly default?: string | number;
  /** Limits of a whole number; both are inclusive. */
  readonly bounds?: readonly [min: number, max: number];
}

/**
 * One option, written as commander reads it: `--max-concurrent <number>`. Its name is that of the field that it fills.
 */
export type Flag = readonly [flags: string, help?: string, parts?: FlagParts];

export type Flags = Readonly<Record<string, Flag>>;

interface Values {
  text: string;
  texts: string[];
  number: number;
  commas: string[];
  json: Record<string, unknown>;
  /** Printed as `yes` or `no`. */
  boolean: boolean;
}

type ValueOf<One extends Flag, Field> = One[2] extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : One[2] extends { readonly kind: infer Kind extends keyof Values }
    ? Values[Kind]
    : Field;

/** The input of a command line: its arguments, and those of its flags that were used. */
export type CommandInput<Argument extends string, Named extends Flags, Sent = unknown> = {
  readonly [Name in Argument]: string;
} & {
  readonly [Name in keyof Named]:
    | ValueOf<Named[Name], Name extends keyof Sent ? NonNullable<Sent[Name]> : string>
    | undefined;
};

export type Value<Row> = (keyof Row & string) | ((row: Row) => unknown);

/**
 * A column with `ago` shows how long ago a time was. The column with `flexible` shrinks when the terminal is narrow; a
 * table has one.
 */
export type Cell<Row> = Value<Row> | { readonly ago: Value<Row> } | { readonly flexible: Value<Row> };

/** Columns by their titles: a field of the row, or a function of it. */
export type Columns<Row> = Readonly<Record<string, Cell<Row>>>;

/** Indents each line. */
export function indent(text: string, by = '  '): string {
  return text.replace(/^/gm, by);
}

type RowOf<Answer> = Answer extends { readonly data: readonly (infer Row)[] } ? Row : never;

/** A command whose types were checked where it was defined. */
export interface AnyCommand {
  /** `list` for lists, `show` for one row. */
  readonly word?: string;
  readonly help: string;
  /** The command that it belongs to, if that is not the resource's. */
  readonly below?: string;
  /** Runs when its parent is used without a word. A list does so unless its path has parameters. */
  readonly isDefault?: boolean;
  /** The names that parameters of the path have here, where they differ. */
  readonly params?: Readonly<Record<string, string>>;
  /** Arguments after the parameters of the path. */
  readonly arguments?: readonly string[];
  /** The arguments that are ids of the resource's rows. */
  readonly ids?: readonly string[];
  /** True if the last argument may be missing; it is then undefined. */
  readonly mayLackLast?: true;
  /** Accepts any number of words after its arguments, which belong to a program: `-- npx -y PACKAGE`. */
  readonly takesProgram?: true;
  readonly flags?: Flags;
  /**
   * The body, or the query of a request without one. When absent, the arguments and flags are the fields of their
   * names.
   */
  sends?(input: never): object;
  /** Printed for programs in place of an empty answer. */
  answer?(input: never): object;
  /** The argument `file` names a file, whose object is sent. The value describes what the file must contain. */
  readonly file?: string;
  /** The answer as a text, which programs get unchanged. */
  text?(answer: never): string;
  /** The answer as a table; `nothing` is printed when there is no row. */
  readonly columns?: Columns<never>;
  readonly nothing?: string;
  /** The fields to print, when they differ from those of the answer. */
  fields?(answer: never): object;
  /** The answer as a sentence; printed below the fields when there are both. */
  says?(answer: never, input: never): string;
}

/** The command prints the fields of the answer unless there are `text`, `columns` or `says`. */
export interface Command<
  Answer,
  Sent,
  Argument extends string = string,
  Named extends Flags = Flags,
  Param extends string = never,
> extends AnyCommand {
  readonly arguments?: readonly Argument[];
  readonly ids?: readonly Argument[];
  readonly flags?: Named;
  sends?(input: CommandInput<Argument, Named, Sent>): Sent & object;
  answer?(input: CommandInput<Argument | Param, Named, Sent>): object;
  readonly columns?: Columns<RowOf<Answer>>;
  text?(answer: Answer): string;
  fields?(answer: Answer): object;
  says?(answer: Answer, input: CommandInput<Argument | Param, Named, Sent>): string;
}

export interface RemoveCommand extends Pick<AnyCommand, 'word' | 'help'> {
  says(key: string): string;
}

/** An operation without a command of its own: the command that uses it, or the reason why there is none. */
export type NoCommand = { readonly by: string } | { readonly none: string };
