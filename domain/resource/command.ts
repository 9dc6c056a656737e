/** How a resource's operations look at the command line: words, flags and columns, as data that `cli/` makes commands from. */

/** One option; its name in the object that holds it is that of the field which it fills. */
export interface Flag {
  /** As commander reads it: `--max-concurrent <number>`. */
  readonly flags: string;
  readonly help?: string;
  /** `text` when absent; `texts` takes several words, `commas` one word with commas in it. */
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

/** What a command line gave: its arguments, and of its flags those that were named. */
export type CommandInput<Argument extends string, Named extends Flags> = {
  readonly [Name in Argument]: string;
} & {
  readonly [Name in keyof Named]: ValueOf<Named[Name]> | undefined;
};

export interface Column<Row> {
  readonly title: string;
  cell(row: Row): unknown;
  /** The cell is a time, shown as how long ago it was. */
  readonly ago?: true;
  /** Gives way when the terminal is narrow; one a table. */
  readonly flexible?: true;
}

interface Words {
  readonly word: string;
  readonly help: string;
}

/** One page as a table; its flags are fields of the query. */
export interface ListCommand<Row, Query extends string = string> extends Omit<Words, 'word'> {
  readonly flags?: Readonly<Partial<Record<Query, Flag>>>;
  readonly columns: readonly Column<Row>[];
  /** Said when there is no row. */
  readonly nothing: string;
}

/** One row as fields. */
export interface ShowCommand<Row> extends Omit<Words, 'word'> {
  /** Where they are not the row's own. */
  fields?(row: Row): object;
}

/** Sends a body made of arguments and flags, and says one line of the answer. */
export interface WriteCommand<Answer, Body, Argument extends string = string, Named extends Flags = Flags>
  extends Words {
  /** Beside the resource's key, which the path takes. */
  readonly arguments?: readonly Argument[];
  /** Of these, the ones that are ids of the resource's rows. */
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
