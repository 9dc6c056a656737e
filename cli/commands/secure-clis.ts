/** `tempoclaw secure-clis`: programs that agents run with credentials they never see. */
import type { Command } from 'commander';
import { usageError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext, pathOf, withApiOptions } from '#cli/command-context.ts';
import { readObjectFile } from '#cli/object-file.ts';
import { printFields, printJson, printTable } from '#cli/output.ts';
import type { SecureCli } from '#cli/wire.ts';

interface SetOptions extends ApiOptions {
  readonly file?: string;
  readonly preset?: string;
  readonly agent?: readonly string[];
  readonly env?: readonly string[];
  readonly path?: string;
  readonly host?: boolean;
}

export function register(clis: Command): void {
  withApiOptions(clis.command('list', { isDefault: true }).description('the programs there are')).action(
    list,
  );
  withApiOptions(clis.command('show').description('one program and its rules').argument('<name>')).action(
    show,
  );
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
  withApiOptions(
    clis.command('delete').description('take a program its credentials').argument('<name>'),
  ).action(remove);
}

async function list(options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const clis = await client.get<{ data: readonly SecureCli[] }>(pathOf('secure-clis'));
  if (json) return printJson(out, clis);
  printTable(
    out,
    [
      { title: 'program', cell: (cli) => cli.name },
      { title: 'agents', cell: (cli) => cli.agents.join(', ') || 'none', flexible: true },
      { title: 'variables', cell: (cli) => cli.env.map(({ name }) => name).join(', '), flexible: true },
    ],
    clis.data,
  );
}

async function show(name: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const cli = await client.get<SecureCli>(pathOf('secure-clis', name));
  if (json) printJson(out, cli);
  else printFields(out, { ...cli });
}

async function set(name: string, options: SetOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const { preset, agent, env, path, host } = options;
  const body = {
    ...(options.file === undefined ? {} : readObjectFile(options.file, 'the fields of one program')),
    ...(preset === undefined ? {} : { preset }),
    ...(agent === undefined ? {} : { agents: agent }),
    ...(env === undefined ? {} : { env: env.map(readVariable) }),
    ...(path === undefined ? {} : { path }),
    ...(host === undefined ? {} : { host }),
  };
  const cli = await client.put<SecureCli>(pathOf('secure-clis', name), body);
  if (json) return printJson(out, cli);
  const who = cli.agents.length === 0 ? 'no agent yet (--agent)' : cli.agents.join(', ');
  out.line(`${name} has its credentials; it is run by credentialed_exec only, by: ${who}`);
}

async function remove(name: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  await client.delete(pathOf('secure-clis', name));
  if (json) printJson(out, { name, deleted: true });
  else out.line(`${name} has no credentials any more`);
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
