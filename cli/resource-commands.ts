/** Commands from a resource's definition: list, show, what writes, delete; each with `--json`. */
import { type Command, Option } from 'commander';
import type { Flag, Flags, ResourceCommand } from '#domain/resource/command.ts';
import type { Operation, Operations, Resource } from '#domain/resource/define-resource.ts';
import { call } from './call.ts';
import type { Query } from './client.ts';
import {
  createContext,
  pageQuery,
  type PageOptions,
  printRows,
  readJsonObject,
  withApiOptions,
  withPageOptions,
} from './command-context.ts';
import { printFields, printJson } from './output.ts';
import { agoWords } from './text.ts';
import type { Page } from './wire.ts';

type Options = PageOptions & Readonly<Record<string, unknown>>;
type Kind<Name extends ResourceCommand['kind']> = Extract<ResourceCommand, { readonly kind: Name }>;

/** In the order of the operations; `own` adds the commands that do more, in their operation's place. */
export function addCommands<Named extends Operations>(
  parent: Command,
  resource: Resource<Named>,
  own: { readonly [Id in keyof Named]?: (parent: Command) => void } = {},
): void {
  for (const [id, operation] of Object.entries<Operation>(resource.operations)) {
    own[id]?.(parent);
    const { command } = operation;
    if (command?.kind === 'list') addList(parent, operation, command);
    if (command?.kind === 'show') addShow(parent, resource, operation, command);
    if (command?.kind === 'write') addWrite(parent, resource, operation, command);
    if (command?.kind === 'remove') addRemove(parent, resource, operation, command);
  }
}

function addList(
  parent: Command,
  operation: Operation,
  { help, flags = {}, columns, nothing }: Kind<'list'>,
): void {
  const command = withFlags(parent.command('list', { isDefault: true }).description(help), flags);
  (operation.query ? withPageOptions(command) : withApiOptions(command)).action(async (options: Options) => {
    const now = Date.now();
    const shown = columns.map(({ cell, ago, ...column }) => ({
      ...column,
      cell: (row: unknown) => (ago ? agoWords(cell(row), now) : cell(row)),
    }));
    const context = createContext(options);
    const query = { ...pageQuery(options), ...readFlags(flags, options) } as Query;
    const rows = await call(context.client, operation, { query });
    printRows(context, rows as Page<unknown>, shown, nothing);
  });
}

function addShow(
  parent: Command,
  { key }: Resource,
  operation: Operation,
  { help, fields }: Kind<'show'>,
): void {
  const command = parent.command('show').description(help).argument(`<${key}>`);
  withApiOptions(command).action(async (id: string, options: Options) => {
    const { client, out, json } = createContext(options);
    const row = await call(client, operation, { params: { [key]: id } });
    if (json) printJson(out, row);
    else printFields(out, { ...(fields?.(row) ?? (row as object)) });
  });
}

function addWrite(
  parent: Command,
  { key }: Resource,
  operation: Operation,
  { word, help, arguments: names = [], flags = {}, body, says }: Kind<'write'>,
): void {
  const command = parent.command(word).description(help);
  const keys = operation.params ? [key] : [];
  for (const name of [...keys, ...names]) command.argument(`<${name}>`);
  withApiOptions(withFlags(command, flags)).action(async (...line: unknown[]) => {
    const words = line.filter((word) => typeof word === 'string');
    const options = line[words.length] as Options;
    const { client, out, json } = createContext(options);
    const given = { ...named(names, words.slice(keys.length)), ...readFlags(flags, options) };
    const answer = await call(client, operation, { params: named(keys, words), body: body(given) });
    if (json) printJson(out, answer);
    else out.line(says(answer));
  });
}

function named(names: readonly string[], words: readonly string[]): Record<string, never> {
  return Object.fromEntries(names.map((name, at) => [name, words[at]])) as Record<string, never>;
}

function addRemove(
  parent: Command,
  { key, field = key }: Resource,
  operation: Operation,
  { word, help, says }: Kind<'remove'>,
): void {
  const command = parent.command(word).description(help).argument(`<${key}>`);
  withApiOptions(command).action(async (id: string, options: Options) => {
    const { client, out, json } = createContext(options);
    await call(client, operation, { params: { [key]: id } });
    if (json) printJson(out, { [field]: id, deleted: true });
    else out.line(says(id));
  });
}

function withFlags(command: Command, flags: Readonly<Record<string, Flag | undefined>>): Command {
  for (const flag of Object.values(flags)) if (flag) command.addOption(optionOf(flag));
  return command;
}

function optionOf({ flags, help, choices }: Flag): Option {
  const option = new Option(flags, help);
  return choices ? option.choices([...choices]) : option;
}

function readFlags(
  flags: Readonly<Record<string, Flag | undefined>>,
  options: Options,
): Record<string, never> {
  const given = Object.entries(flags as Flags).map(([name, flag]) => {
    const option = optionOf(flag);
    return [name, readFlag(flag, options[option.attributeName()], option.long ?? name)] as const;
  });
  return Object.fromEntries(given) as Record<string, never>;
}

/** What is undefined was not named. A number that is none is the API's to refuse. */
function readFlag({ kind }: Flag, value: unknown, name: string): unknown {
  if (typeof value !== 'string') return value;
  if (kind === 'number') return Number(value);
  if (kind === 'commas') return value.split(',').flatMap((one) => one.trim() || []);
  if (kind === 'json') return readJsonObject(value, name);
  return value;
}
