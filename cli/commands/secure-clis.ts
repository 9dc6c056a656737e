/** `tempoclaw secure-clis`: programs that agents run with credentials they never see. */
import type { Command } from 'commander';
import { secureClis as resource } from '#domain/resource/secure-clis.ts';
import { call } from '#cli/call.ts';
import { usageError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext, withApiOptions } from '#cli/command-context.ts';
import { readObjectFile } from '#cli/object-file.ts';
import { printJson } from '#cli/output.ts';
import { addCommands } from '#cli/resource-commands.ts';

interface SetOptions extends ApiOptions {
  readonly file?: string;
  readonly preset?: string;
  readonly agent?: readonly string[];
  readonly env?: readonly string[];
  readonly path?: string;
  readonly host?: boolean;
}

export function register(clis: Command): void {
  addCommands(clis, resource, { setSecureCli: addSet });
}

function addSet(clis: Command): void {
  withApiOptions(
    clis
      .command('set')
      .description('give a program credentials, or change its rules; what is not given stays')
      .argument('<name>')
      .option('--preset <name>', 'rules for gh, gcloud, aws, kubectl or terraform')
      .option('--agent <key...>', 'agents that may use it; * is every agent')
      .option('--env <name=secret...>', 'a variable and the secret it gets, such as GH_TOKEN=secret://github')
      .option('--path <path>', 'where the program is, when PATH does not say')
      .option('--host', 'also for agents that need a sandbox, although it runs on the worker’s machine')
      .option('--no-host', 'not for those')
      .option('--file <path>', 'all of it from a YAML or JSON file; flags win over it'),
  ).action(set);
}

async function set(name: string, options: SetOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const { preset, agent, env, path, host } = options;
  const file = options.file === undefined ? {} : readObjectFile(options.file, 'the fields of one program');
  const flags = { preset, agents: agent && [...agent], env: env?.map(readVariable), path, host };
  const cli = await call(client, resource.operations.setSecureCli, {
    params: { name },
    body: { ...file, ...named(flags) },
  });
  if (json) return printJson(out, cli);
  const who = cli.agents.length === 0 ? 'no agent yet (--agent)' : cli.agents.join(', ');
  out.line(`${name} has its credentials; it is run by credentialed_exec only, by: ${who}`);
}

/** Without what was not named, so that the file's stays. */
function named<Fields extends object>(fields: Fields): Fields {
  return JSON.parse(JSON.stringify(fields)) as Fields;
}

/** Only references: a value among the arguments could be read from the list of processes. */
function readVariable(given: string): { name: string; value: string } {
  const equals = given.indexOf('=');
  const value = given.slice(equals + 1);
  if (equals < 1 || !value.startsWith('secret://'))
    throw usageError(
      '--env takes NAME=secret://SECRET; values themselves are not taken from arguments.',
      'Set the value first: npx tempoclaw secrets set SECRET',
    );
  return { name: given.slice(0, equals), value };
}
