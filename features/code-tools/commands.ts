/** Implements `tempoclaw tools serve` and `tempoclaw tools hosts`: tools in TypeScript and Python, and hooks. */
import type { Command } from 'commander';
import { childEnvironment } from '#config';
import { readOfficialSettings } from '#config/temporal-connection.ts';
import { addCommands } from '#cli/api-commands.ts';
import { CliError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext } from '#cli/command-context.ts';
import type { PythonProgram } from './host/python.ts';
import type { TestOptions } from './trial/test-command.ts';
import { hostNameOf, registerTools } from './host/register-tools.ts';
import { toolHosts } from './resource.ts';

interface ServeOptions extends ApiOptions {
  readonly host?: string;
}

export function register(tools: Command): void {
  tools
    .command('serve')
    .argument('[folder]', 'it contains tools/ or hooks/, with one a file', '.')
    .description('run tools written in TypeScript or Python, and hooks in TypeScript')
    .option('--host <name>', 'name of this host (default: that of the folder)')
    .action(serve);
  tools
    .command('test')
    .argument('<name>', 'a tool of the folder')
    .argument('[arguments]', 'JSON; {n} in it becomes the number of the run', '{}')
    .description(
      'run a tool of this folder, in TypeScript or Python, without an installation; its effects are real',
    )
    .option('--folder <folder>', 'it contains tools/', '.')
    .option(
      '--kill',
      'kill it at each point of a run, each with a new call, and show what a crash there leaves',
    )
    .option('--secrets <file>', 'lines of NAME=value for the secrets that it names')
    .action(async (name: string, args: string, options: TestOptions) => {
      const { testTool } = await import('./trial/test-command.ts');
      await testTool(name, args, options);
    });
  addCommands(tools.command('hosts').description('programs that run tools: list, show, delete'), toolHosts);
}

async function serve(folder: string, options: ServeOptions): Promise<void> {
  const { hasPythonTools, startPython } = await import('./host/python.ts');
  // The process that says its tools also serves them, so that they are the ones that were registered.
  const program = hasPythonTools(folder) ? startPython(folder, 'serve') : undefined;
  try {
    await serveWith(program, folder, options);
  } finally {
    await program?.end();
  }
}

async function serveWith(
  program: PythonProgram | undefined,
  folder: string,
  options: ServeOptions,
): Promise<void> {
  const { client, out, err } = createContext(options);
  const { loadFolder } = await import('./host/load-folder.ts');
  const name = options.host ?? hostNameOf(folder);
  const loaded = await loadFolder(folder, program);
  const { definitions, tools, hooks, python, problems } = loaded;
  for (const problem of problems) err.line(problem);
  if (problems.length > 0 || definitions.length + hooks.length === 0)
    throw new CliError(
      problems.length > 0
        ? 'Tools and hooks that are wrong cannot be served.'
        : `${folder} has no tool and no hook.`,
      { code: 'InvalidTools', remedy: 'See docs/code-tools.md for a tool in twelve lines.' },
    );
  const temporal = readOfficialSettings(childEnvironment({}));
  if (typeof temporal === 'string') throw new CliError(temporal);
  const { host, sealKey } = await registerTools(client, name, {
    definitions,
    hooks: hooks.map(({ definition }) => definition),
  });
  const { run } = client.target();
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  // `dev` has started it, and has ended in whatever way.
  process.once('disconnect', () => stop.abort());
  // Listening for it would keep this process alive.
  process.channel?.unref();
  const { serveFolder } = await import('./host/serve-folder.ts');
  await serveFolder({
    folder,
    program,
    tools,
    hooks,
    definitions: python.definitions,
    temporal: { address: run?.temporal, namespace: run?.namespace, ...definedOf(temporal) },
    queues: host.task_queues,
    sealKey,
    onReady: () => {
      const names = [...definitions, ...hooks.map(({ definition }) => definition)].map((one) => one.name);
      out.line(`${name} serves ${names.join(', ')}`);
      out.line(`on the task queue ${host.task_queues.runs}; Ctrl-C ends it`);
    },
    onLost: () => err.line('The process of the Python tools has ended; it starts again.'),
    signal: stop.signal,
  });
}

/** A setting that is absent does not replace one of a local installation. */
function definedOf<Settings extends object>(settings: Settings): Partial<Settings> {
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined),
  ) as Partial<Settings>;
}
