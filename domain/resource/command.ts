/**
 * The command-line form of a resource's operations: words, flags and columns, as data from which `cli/` creates
 * commands.
 */

/** One option. Its key in the object that contains it is the name of the field that it sets. */
export interface Flag {
  /** In commander's syntax: `--max-concurrent <number>`. */
  readonly flags: string;
  readonly help?: string;
  /** `text` when absent; `texts` takes several words, `commas` one word with commas. */
  readonly kind?: 'text' | 'texts' | 'number' | 'commas' | 'json';
  readonly choices?: readonly string[];
  readonly required?: true;
}

export type Flags = Readonly<Record<string, Flag>>;

interface Values {
  text: string;
  texts: string[];
  number: number;
  commas: string[];
  json: Record<string, unknown>;
}

type ValueOf<One extends Flag> = One extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : One extends { readonly kind: infer Kind extends keyof Values }
    ? Values[Kind]
    : string;

/** The values of a command line: its arguments, and the flags that were set. */
export type CommandInput<Argument extends string, Named extends Flags> = {
  readonly [Name in Argument]: string;
} & {
  readonly [Name in keyof Named]: ValueOf<Named[Name]> | undefined;
};

export interface Column<Row> {
  readonly title: string;
  cell(row: Row): unknown;
  /** The cell is a time, shown as its age. */
  readonly ago?: true;
  /** This column shrinks when the terminal is narrow; a table has at most one. */
  readonly flexible?: true;
}

interface Words {
  readonly word: string;
  readonly help: string;
}

/** Shows one page as a table; its flags are fields of the query. */
export interface ListCommand<Row, Query extends string = string> extends Omit<Words, 'word'> {
  readonly flags?: Readonly<Partial<Record<Query, Flag>>>;
  readonly columns: readonly Column<Row>[];
  /** Printed when there are no rows. */
  readonly nothing: string;
}

/** Shows one row as fields. */
export interface ShowCommand<Row> extends Omit<Words, 'word'> {
  /** The fields to show, when they are not the row's own. */
  fields?(row: Row): object;
}

/** Sends a body made of arguments and flags, and prints one line of the answer. */
export interface WriteCommand<Answer, Body, Argument extends string = string, Named extends Flags = Flags>
  extends Words {
  /** Arguments besides the resource's key, which is in the path. */
  readonly arguments?: readonly Argument[];
  /** The arguments that are ids of the resource's rows. */
  readonly ids?: readonly Argument[];
  readonly flags?: Named;
  body(input: CommandInput<Argument, Named>): Body;
  says(answer: Answer): string;
}

export interface RemoveCommand extends Words {
  says(key: string): string;
}

export type ResourceCommand =
  | ({ readonly kind: 'list' } & ListCommand<unknown>)
  | ({ readonly kind: 'show' } & ShowCommand<unknown>)
  | ({ readonly kind: 'write' } & WriteCommand<unknown, unknown>)
  | ({ readonly kind: 'remove' } & RemoveCommand);
