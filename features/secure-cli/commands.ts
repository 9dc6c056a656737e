/** Implements `tempoclaw secure-clis`: programs that agents run with credentials they never see. */
import type { Command } from 'commander';
import { secureClis as resource } from './resource.ts';
import { addApiCommand } from '#cli/api-commands.ts';
import { usageError } from '#cli/cli-error.ts';
import { readObjectFile } from '#cli/object-file.ts';
import { addCommands } from '#cli/resource-commands.ts';

export function register(clis: Command): void {
  addCommands(clis, resource, { setSecureCli: addSet });
}

function addSet(clis: Command): void {
  addApiCommand(clis, {
    word: 'set',
    help: 'give a program credentials, or change its rules; what is not given stays',
    method: 'PUT',
    path: '/v1/secure-clis/:name',
    flags: {
      preset: { flags: '--preset <name>', help: 'rules for gh, gcloud, aws, kubectl or terraform' },
      agents: {
        flags: '--agent <key...>',
        help: 'agents that may use it; * is every agent',
        kind: 'texts',
      },
      variables: {
        flags: '--env <name=secret...>',
        help: 'a variable and the secret it gets, such as GH_TOKEN=secret://github',
        kind: 'texts',
      },
      path: { flags: '--path <path>', help: 'where the program is, when PATH does not say' },
      host: {
        flags: '--host',
        help: 'also for agents that need a sandbox, although it runs on the worker’s machine',
      },
      no_host: { flags: '--no-host', help: 'not for those' },
      file: {
        flags: '--file <path>',
        help: 'all of it from a YAML or JSON file; flags win over it',
      },
    },
    sends: ({ name: _name, no_host: _sameAsHost, file, variables, ...flags }) => ({
      ...(file === undefined ? {} : readObjectFile(file, 'the fields of one program')),
      ...flags,
      ...(variables && { env: variables.map(readVariable) }),
    }),
    print({ out }, { name, agents }: { readonly name: string; readonly agents: readonly string[] }) {
      const who = agents.length === 0 ? 'no agent yet (--agent)' : agents.join(', ');
      out.line(`${name} has its credentials; it is run by credentialed_exec only, by: ${who}`);
    },
  });
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
