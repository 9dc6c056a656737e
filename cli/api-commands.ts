/**
 * Describes commands of the API as data: the request, the flags that fill it, and how a person reads the answer.
 * `--json` prints the answer unchanged.
 */
import { type Command, Option } from 'commander';
import type { Flag as NamedFlag, CommandInput } from '#domain/resource/command.ts';
import type { Operation } from '#domain/resource/define-resource.ts';
import { send } from './call.ts';
import type { Query } from './client.ts';
import {
  type ApiOptions,
  type CommandContext,
  createContext,
  readJsonObject,
  wholeNumber,
} from './command-context.ts';
import { usageError } from './cli-error.ts';
import { type Column, printJson, printTable } from './output.ts';
import type { Page } from './wire.ts';

export interface Flag extends NamedFlag {
  readonly default?: string | number;
  readonly required?: true;
  /** Limits of a whole number; both are inclusive. */
  readonly bounds?: readonly [least: number, most: number];
}

export type Flags = Readonly<Record<string, Flag>>;

type ParamOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

export interface ApiCommand<
  Answer,
  Path extends string = string,
  Argument extends string = string,
  Named extends Flags = Flags,
> {
  /** Absent if the command is the parent itself, which has its own help. */
  readonly word?: string;
  readonly help?: string;
  /** Runs when no command below the parent is named. */
  readonly isDefault?: boolean;
  /** GET when absent. */
  readonly method?: Operation['method'];
  /** Its parameters (`:id`) are the first arguments. */
  readonly path: Path;
  readonly arguments?: readonly Argument[];
  /** Arguments that are ids. For each, a name is also accepted, by which the list finds its row. */
  readonly named?: { readonly list: string; readonly ids: readonly string[] } | undefined;
  /** True if the last argument may be missing; it is then undefined. */
  readonly mayLackLast?: boolean;
  /** Accepts any number of words after its arguments, which belong to a program: `-- npx -y PACKAGE`. */
  readonly takesProgram?: true;
  readonly flags?: Named;
  /**
   * The query of GET and DELETE, or the body of other methods. When absent, everything is sent that is not in the path.
   */
  sends?(
    input: CommandInput<ParamOf<Path> | Argument, Named>,
    context: CommandContext,
    program: readonly string[],
  ): object | Promise<object>;
  /** The query of a method that has a body. */
  asks?(options: CommandInput<ParamOf<Path> | Argument, Named>): Query;
  /** Printed for programs in place of an empty answer. */
  answer?(input: CommandInput<ParamOf<Path> | Argument, Named>): Answer;
  print(
    context: CommandContext,
    answer: Answer,
    options: CommandInput<ParamOf<Path> | Argument, Named>,
  ): void;
}

export function addApiCommand<
  Answer,
  const Path extends string,
  const Argument extends string = never,
  const Named extends Flags = Flags,
>(parent: Command, one: ApiCommand<Answer, Path, Argument, Named>): void {
  const { word, help = '', isDefault, method = 'GET', path, flags } = one;
  const params = path.match(/(?<=:)\w+/g) ?? [];
  const names = [...params, ...(one.arguments ?? [])];
  const command = word === undefined ? parent : parent.command(word, { isDefault }).description(help);
  for (const name of names)
    command.argument(one.mayLackLast && name === names.at(-1) ? `[${name}]` : `<${name}>`);
  if (one.takesProgram) command.argument('[program...]', 'a program with its arguments, behind --');
  for (const flag of Object.values(flags ?? {})) command.addOption(optionOf(flag));
  command.action(async (...line: unknown[]) => {
    const program = one.takesProgram ? (line[names.length] as string[]) : [];
    const options = line[names.length + (one.takesProgram ? 1 : 0)] as ApiOptions &
      Readonly<Record<string, unknown>>;
    const context = createContext(options);
    const words = Object.fromEntries(names.map((name, at) => [name, line[at]]));
    for (const name of one.named?.ids ?? [])
      words[name] = await idOf(context, one.named?.list ?? '', String(words[name]));
    const input = { ...words, ...readFlags(flags ?? {}, options) } as Parameters<typeof one.print>[2];
    const sent = (await one.sends?.(input, context, program)) ?? without(input, params);
    const received = await send(context.client, { method, path }, words, sent, one.asks?.(input));
    const answer = one.answer?.(input) ?? (received as Answer);
    if (context.json) printJson(context.out, answer);
    else one.print(context, answer, input);
  });
}

/** The id of the row with this name, otherwise the typed text. */
async function idOf({ client }: CommandContext, list: string, typed: string): Promise<string> {
  const { data } = await client.get<Page<{ readonly id: string; readonly agent?: string }>>(list, {
    name: typed,
    limit: 10,
  });
  if (data.length > 1)
    throw usageError(
      `Several are named ${typed}: ${data.map(({ id, agent }) => (agent ? `${id} (${agent})` : id)).join(', ')}.`,
      'Name one by its id.',
    );
  return data[0]?.id ?? typed;
}

export const PAGE_FLAGS = {
  limit: { flags: '--limit <n>', help: 'rows to show, 1 to 200', bounds: [1, 200], default: 50 },
  after: { flags: '--after <cursor>', help: 'go on after the page whose next_cursor this is' },
} as const satisfies Flags;

export interface List<Row>
  extends Pick<ApiCommand<Page<Row>>, 'help' | 'path' | 'flags' | 'isDefault' | 'named'> {
  /** `list` when absent. */
  readonly word?: string;
  /** True if all rows come at once. */
  readonly isWhole?: boolean;
  readonly columns: readonly Column<Row>[];
  /** Printed when there is no row. */
  readonly nothing: string;
}

/**
 * Adds a command that prints a table; its flags are fields of the query. It is the default unless it takes an argument.
 */
export function addList<Row>(parent: Command, { columns, nothing, isWhole, ...list }: List<Row>): void {
  addApiCommand(parent, {
    word: 'list',
    isDefault: list.word === undefined && !list.path.includes(':'),
    ...list,
    flags: { ...(isWhole ? {} : PAGE_FLAGS), ...list.flags },
    print: (context, page: Page<Row>) => printRows(context, page, columns, nothing),
  });
}

export function printRows<Row>(
  context: CommandContext,
  page: Page<Row>,
  columns: readonly Column<Row>[],
  nothing: string,
): void {
  if (page.data.length === 0) return context.err.line(nothing);
  printTable(context.out, columns, page.data);
  printNext(context, page);
}

/** Prints how to get the next page. */
export function printNext({ err }: CommandContext, page: Omit<Page<unknown>, 'data'>): void {
  if (page.has_more) err.line(err.paint('dim', `more: --after ${page.next_cursor ?? ''}`));
}

export function without(fields: object, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

function optionOf({ flags, help, choices, required, bounds, default: usual }: Flag): Option {
  const option = new Option(flags, help).makeOptionMandatory(required === true).default(usual);
  if (bounds) option.argParser(wholeNumber(...bounds));
  return choices ? option.choices([...choices]) : option;
}

/** The flags that were used or have a default. */
function readFlags(flags: Flags, options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const values = Object.entries(flags).map(([name, flag]) => {
    const option = optionOf(flag);
    return [name, readFlag(flag, options[option.attributeName()], option.long ?? name)] as const;
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function readFlag({ kind }: Flag, value: unknown, name: string): unknown {
  if (typeof value !== 'string') return value;
  if (kind === 'number') return readNumber(value, name);
  if (kind === 'commas') return value.split(',').flatMap((one) => one.trim() || []);
  if (kind === 'json') return readJsonObject(value, name);
  return value;
}

/** Only the API checks whether the number is within its limits. */
function readNumber(value: string, name: string): number {
  const number = Number(value);
  if (Number.isFinite(number)) return number;
  throw usageError(`${name} must be a number, not ${value}`);
}
