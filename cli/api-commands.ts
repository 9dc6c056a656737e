/**
 * Makes commands from the operations of the API: the request, the flags that fill it, and how a person reads the
 * answer. `--json` prints the answer unchanged.
 */
import { type Command, Option } from 'commander';
import type { z } from 'zod';
import type { AnyCommand, Columns, Flag } from '#domain/resource/command.ts';
import type { Operation, Operations, Resource } from '#domain/resource/define-resource.ts';
import { send } from './call.ts';
import type { Query } from './client.ts';
import {
  type ApiOptions,
  type CommandContext,
  createContext,
  readJsonObject,
  wholeNumber,
  numberOf,
} from './command-context.ts';
import { usageError } from './cli-error.ts';
import { readObjectFile } from './object-file.ts';
import { printFields, printJson, printTable, printText } from './output.ts';
import { printable } from './text.ts';
import type { Page } from './wire.ts';

/** What a command adds to its definition. `input` has the arguments and flags of the command line by their names. */
export interface OwnPart<Answer = unknown> {
  /** True if the command is the parent itself, which has its own help. */
  readonly isParent?: true;
  /** Replaces the request of the definition. */
  sends?(input: object, context: CommandContext, program: readonly string[]): object | Promise<object>;
  print?(context: CommandContext, answer: Answer, input: object): void | Promise<void>;
}

type OwnParts<Named extends Operations> = {
  readonly [Id in keyof Named]?: OwnPart<z.output<Named[Id]['answer']>>;
};

/** Adds the commands of the resource in the order of its operations. */
export function addCommands<Named extends Operations>(
  parent: Command,
  resource: Resource<Named>,
  own: OwnParts<Named> = {},
): void {
  for (const id of Object.keys(resource.operations)) {
    const { command } = resource.operations[id] ?? {};
    if (command && 'help' in command && command.below === undefined)
      addCommand(parent, resource, id, own[id]);
  }
}

/** Adds the command of one operation. */
export function addCommand<Named extends Operations, Id extends keyof Named & string>(
  parent: Command,
  resource: Resource<Named>,
  id: Id,
  own: OwnPart<z.output<Named[Id]['answer']>> = {},
  /** Replaces the command of the operation. */
  other?: AnyCommand,
): void {
  const operation: Operation | undefined = resource.operations[id];
  const command = other ?? operation?.command;
  if (!operation || !command || !('help' in command)) throw new Error(`${id} has no command`);
  const ids = [...(operation.params ? [resource.key] : []), ...(command.ids ?? [])];
  addApiCommand(parent, operation, command, own, resource.named && { list: resource.path, ids });
}

const PAGE_FLAGS = {
  limit: ['--limit <n>', 'rows to show, 1 to 200', { bounds: [1, 200], default: 50 }],
  after: ['--after <cursor>', 'go on after the page whose next_cursor this is'],
} as const satisfies Readonly<Record<string, Flag>>;

/** `named` has arguments that are ids. For each, a name is also accepted, by which the list finds its row. */
function addApiCommand(
  parent: Command,
  { method, path, query, body }: Operation,
  one: AnyCommand,
  own: OwnPart<never>,
  named: { readonly list: string; readonly ids: readonly string[] } | undefined,
): void {
  const params: readonly string[] = path.match(/(?<=:)\w+/g) ?? [];
  const names = [...params, ...(one.arguments ?? [])];
  const queried = fieldsOf(query);
  const fields = fieldsOf(body);
  const flags = flagOptions({ ...(queried['after'] && PAGE_FLAGS), ...one.flags }, fields);
  const { isDefault = one.word === 'list' && params.length === 0 } = one;
  const command = own.isParent
    ? parent
    : parent.command(one.word ?? 'show', { isDefault }).description(one.help);
  for (const name of names) {
    const shown = one.params?.[name] ?? name;
    command.argument(one.mayLackLast && name === names.at(-1) ? `[${shown}]` : `<${shown}>`);
  }
  if (one.takesProgram) command.argument('[program...]', 'a program with its arguments, behind --');
  for (const { option } of flags) command.addOption(option);
  const sentOf = (input: object): object => {
    const own = without(input, (name) => params.includes(name) || (body !== undefined && name in queried));
    if (one.file) return readObjectFile(String(own['file']), one.file);
    return one.sends?.(own as never) ?? own;
  };
  command.action(async (...line: unknown[]) => {
    const program = one.takesProgram ? (line[names.length] as string[]) : [];
    const options = line[names.length + (one.takesProgram ? 1 : 0)] as ApiOptions;
    const context = createContext(options);
    const flagged = readFlags(flags, options);
    const words = Object.fromEntries(names.map((name, at) => [name, readWord(fields[name], line[at], name)]));
    for (const name of named?.ids ?? [])
      words[name] = await idOf(context, named?.list ?? '', String(words[name]));
    const input = { ...words, ...flagged };
    const beside = body ? without(input, (name) => !(name in queried)) : undefined;
    const sent = (await own.sends?.(input, context, program)) ?? sentOf(input);
    requireChange(method, command, sent);
    const received = await send(context.client, { method, path }, words, sent, beside as Query | undefined);
    const answer = one.answer?.(input as never) ?? received;
    if (context.json) printJson(context.out, answer);
    else if (own.print) await own.print(context, answer as never, input);
    else printAnswer(context, one, answer as never, input as never);
  });
}

function requireChange(method: string, command: Command, sent: object): void {
  if (method === 'PATCH' && Object.values(sent).every((value) => value === undefined))
    throw usageError('Nothing to change is named.', `See: npx ${nameOf(command)} --help`);
}

function nameOf(command: Command): string {
  return command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
}

function printAnswer(context: CommandContext, one: AnyCommand, answer: never, input: never): void {
  const { out } = context;
  const { text, columns, fields, says } = one;
  if (text) return printText(out, text(answer));
  if (columns) return printRows(context, answer, columns, one.nothing);
  if (fields || !says) printFields(out, { ...(fields?.(answer) ?? (answer as object)) });
  const words = says?.(answer, input);
  if (words) out.line(printable(words));
}

export function printRows<Row>(
  context: CommandContext,
  page: Pick<Page<Row>, 'data'> & Partial<Page<Row>>,
  columns: Columns<Row>,
  nothing = '',
): void {
  if (page.data.length === 0) return context.err.line(nothing);
  printTable(context.out, columns, page.data);
  printNext(context, page);
}

/** Prints how to get the next page. */
export function printNext({ err }: CommandContext, page: Partial<Page<unknown>>): void {
  if (page.has_more) err.line(err.paint('dim', `more: --after ${page.next_cursor ?? ''}`));
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

function without(fields: object, isLeftOut: (name: string) => boolean): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !isLeftOut(name)));
}

/** The fields of the object that a schema reads, whatever wraps it. */
function fieldsOf(schema: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> {
  return (schema && (innermost(schema).def as { shape?: Record<string, z.ZodType> }).shape) ?? {};
}

function innermost(schema: z.ZodType): z.ZodType {
  const { innerType, out = innerType } = schema.def as { innerType?: z.ZodType; out?: z.ZodType };
  return out ? innermost(out) : schema;
}

interface FlagOption {
  readonly name: string;
  readonly kind: string | undefined;
  readonly needs: string | undefined;
  readonly option: Option;
}

/** `fields` has the schemas of the body's fields, which say how the flags of their names are read. */
export function flagOptions(
  flags: Readonly<Record<string, Flag>>,
  fields: Readonly<Record<string, z.ZodType>> = {},
): readonly FlagOption[] {
  return Object.entries(flags).map(([name, [written, help, parts = {}]]) => {
    const { required, bounds, default: usual, conflicts = [] } = parts;
    const option = new Option(written, help)
      .makeOptionMandatory(required === true)
      .conflicts([...conflicts])
      .default(usual);
    const kind = parts.kind ?? kindOf(option, fields[name]);
    const choices = parts.choices ?? (kind === 'boolean' ? ['yes', 'no'] : undefined);
    if (choices) option.choices([...choices]);
    if (bounds) option.argParser(wholeNumber(...bounds));
    return { name, kind, needs: parts.needs, option };
  });
}

function kindOf({ variadic, required }: Option, field: z.ZodType | undefined): string | undefined {
  switch (field && innermost(field).type) {
    case 'number':
      return 'number';
    case 'array':
      return variadic ? 'texts' : 'commas';
    case 'object':
    case 'record':
      return 'json';
    case 'boolean':
      return required ? 'boolean' : undefined;
    default:
      return undefined;
  }
}

/** The flags that were used or have a default. */
export function readFlags(flags: readonly FlagOption[], options: object): Record<string, unknown> {
  const values = new Map(Object.entries(options));
  for (const { needs, option } of flags)
    if (needs !== undefined && values.has(option.attributeName()) && !values.has(needs))
      throw usageError(`${option.long} does nothing without --${needs}.`);
  const read = flags.map(({ name, kind, option }) => [
    name,
    readFlag(kind, values.get(option.attributeName()), option.long ?? name),
  ]);
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}

function readFlag(kind: string | undefined, value: unknown, name: string): unknown {
  if (typeof value !== 'string') return value;
  if (kind === 'number') return readNumber(value, name);
  if (kind === 'boolean') return value === 'yes';
  if (kind === 'commas') return value.split(',').flatMap((one) => one.trim() || []);
  if (kind === 'json') return readJsonObject(value, name);
  return value;
}

/** A word of the line: in the path as it is, in the body as its field is. */
function readWord(field: z.ZodType | undefined, word: unknown, name: string): unknown {
  const isNumber = field !== undefined && innermost(field).type === 'number' && word !== undefined;
  return isNumber ? readNumber(String(word), name) : word;
}

/** Only the API checks whether the number is within its limits. */
function readNumber(value: string, name: string): number {
  const number = numberOf(value);
  if (Number.isFinite(number)) return number;
  throw usageError(`${name} must be a number, not ${value || 'empty'}`);
}
