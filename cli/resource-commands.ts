/** Makes commands from a resource's definition: list, show, the writes, delete; each with `--json`. */
import type { Command } from 'commander';
import type { ResourceCommand } from '#domain/resource/command.ts';
import type { Operation, Operations, Resource } from '#domain/resource/define-resource.ts';
import { addApiCommand, addList, type Flags, without } from './api-commands.ts';
import { printFields } from './output.ts';

/**
 * Adds the commands in the order of the operations. `own` adds the commands that do more, in their operation's place.
 */
export function addCommands<Named extends Operations>(
  parent: Command,
  resource: Resource<Named>,
  own: { readonly [Id in keyof Named]?: (parent: Command) => void } = {},
): void {
  for (const [id, operation] of Object.entries<Operation>(resource.operations)) {
    own[id]?.(parent);
    if (operation.command) addOne(parent, resource, operation, operation.command);
  }
}

function addOne(
  parent: Command,
  { path: list, key, field = key, named: isNamed }: Resource,
  { method, path, params, query }: Operation,
  command: ResourceCommand,
): void {
  const named = isNamed && {
    list,
    ids: [...(params ? [key] : []), ...((command.kind === 'write' && command.ids) || [])],
  };
  switch (command.kind) {
    case 'list':
      return addList(parent, { ...command, flags: command.flags as Flags, path, isWhole: !query });
    case 'show':
      return addApiCommand(parent, {
        word: 'show',
        help: command.help,
        path,
        named,
        print: ({ out }, row: object) => printFields(out, { ...(command.fields?.(row) ?? row) }),
      });
    case 'write':
      return addApiCommand(parent, {
        ...command,
        method,
        path,
        named,
        sends: (input) => command.body(without(input, [params ? key : '']) as never) as object,
        print: ({ out }, answer: unknown) => out.line(command.says(answer)),
      });
    case 'remove':
      return addApiCommand(parent, {
        ...command,
        method,
        path,
        named,
        answer: (input: Readonly<Record<string, string>>) => ({ [field]: input[key], deleted: true }),
        print: ({ out }, _answer, input) => out.line(command.says(input[key] ?? '')),
      });
  }
}
