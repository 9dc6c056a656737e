/** Implements `tempoclaw secure-clis`: programs that agents run with credentials they never see. */
import type { Command } from 'commander';
import { secureClis as resource, secureCliCredentials } from './resource.ts';
import { addCommands } from '#cli/api-commands.ts';
import { usageError } from '#cli/cli-error.ts';
import { readObjectFile } from '#cli/object-file.ts';

interface Input {
  readonly name: string;
  readonly file?: string;
  readonly variables?: readonly string[];
  readonly no_host?: unknown;
}

export function register(clis: Command): void {
  addCommands(clis, resource, {
    setSecureCli: {
      sends: ({ name: _name, no_host: _sameAsHost, file, variables, ...flags }: Input) => ({
        ...(file === undefined ? {} : readObjectFile(file, 'the fields of one program')),
        ...flags,
        ...(variables && { env: variables.map(readVariable) }),
      }),
    },
  });
  addCommands(clis, secureCliCredentials);
}

/** Accepts only references, because a value among the arguments could be read from the list of processes. */
function readVariable(text: string): { name: string; value: string } {
  const equals = text.indexOf('=');
  const value = text.slice(equals + 1);
  if (equals < 1 || !value.startsWith('secret://'))
    throw usageError(
      '--env takes NAME=secret://SECRET; values themselves are not taken from arguments.',
      'Set the value first: npx tempoclaw secrets set SECRET',
    );
  return { name: text.slice(0, equals), value };
}
