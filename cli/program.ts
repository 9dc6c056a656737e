/** The tree of commands: the root knows each by name, and a command's module completes it when it is used. */
import { Command, Option } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { EXIT } from './cli-error.ts';
import type { CommandEntry, SharedOption } from './commands.ts';

/** Options that are accepted before the command, between its names, and after it by each command that uses them. */
const SHARED_OPTIONS: Readonly<Record<SharedOption, readonly [flags: string, text: string]>> = {
  json: ['--json', 'print JSON for programs'],
  url: ['--url <url>', 'the API to talk to (or TEMPOCLAW_URL; else run.json of the state folder)'],
  apiKey: ['--api-key <key>', 'its key; TEMPOCLAW_API_KEY keeps it out of the list of processes'],
  stateDir: [
    '--state-dir <folder>',
    'the state folder (or TEMPOCLAW_STATE_DIR; else the nearest .tempoclaw)',
  ],
  config: ['--config <file>', 'settings file (default: tempoclaw.yaml, if there is one)'],
};

/** `isQuiet`: it prints no errors of usage, which its caller prints as JSON. */
export function createProgram(all: readonly CommandEntry[], isQuiet = false): Command {
  const program = new Command('tempoclaw')
    .configureOutput(isQuiet ? { writeErr: () => undefined } : {})
    .description('Runs tool-using AI agents as durable, approvable, visible Temporal workflows.')
    .usage('[options] <command>')
    .version(manifest.version)
    .exitOverride()
    .enablePositionalOptions()
    .showHelpAfterError('(see: tempoclaw --help)')
    .optionsGroup('Options, before the command or behind it:')
    .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.')
    .helpCommand(false);
  for (const [flags, text] of Object.values(SHARED_OPTIONS)) program.option(flags, text);
  const entries = new Map<Command, CommandEntry>();
  for (const entry of all)
    entries.set(program.command(entry.name).description(entry.summary).helpGroup(entry.group), entry);
  program
    .command('help [command...]')
    .description('the help of a command, as --help behind it')
    .helpGroup('Help:')
    .action(async (names: string[]) => {
      await program.parseAsync([...names, '--help'], { from: 'user' });
    });
  program.hook('preSubcommand', async (_program, command) => {
    const entry = entries.get(command);
    entries.delete(command);
    if (entry) await fill(command, entry, all);
  });
  program.hook('preAction', (_program, command) => inherit(command));
  return program;
}

async function createWholeProgram(all: readonly CommandEntry[]): Promise<Command> {
  const program = createProgram(all);
  for (const command of program.commands) {
    const entry = all.find(({ name }) => name === command.name());
    if (entry) await fill(command, entry, all);
  }
  return program;
}

async function fill(
  command: Command,
  { loads, takes }: CommandEntry,
  all: readonly CommandEntry[],
): Promise<void> {
  for (const load of loads) {
    const loaded = await load();
    if ('register' in loaded) loaded.register(command, () => createWholeProgram(all));
    else (await import('./api-commands.ts')).addCommands(command, loaded);
  }
  addSharedOptions(command, takes);
  refuseUnknownWords(command);
}

/** Otherwise `sessions lsit` would be an argument too many of the command that has no name, `sessions list`. */
function refuseUnknownWords(command: Command): void {
  for (const below of command.commands) refuseUnknownWords(below);
  command.hook('preSubcommand', (_command, chosen) => {
    const [word = '-'] = command.args;
    const names = command.commands.flatMap((one) => [one.name(), ...one.aliases()]);
    if (word.startsWith('-') || names.includes(word) || chosen.registeredArguments.length > 0) return;
    command.error(`error: unknown command '${word}' of ${command.name()}\n(It has: ${names.join(', ')})`, {
      code: 'commander.unknownCommand',
      exitCode: EXIT.usage,
    });
  });
}

/** A command with subcommands accepts all of them between the names: `sessions --json list`. */
function addSharedOptions(command: Command, takes: readonly SharedOption[]): void {
  const isParent = command.commands.length > 0;
  for (const [name, [flags, text]] of Object.entries(SHARED_OPTIONS)) {
    const option = new Option(flags, text).hideHelp(isParent);
    const hasOwn = command.options.some(({ long }) => long === option.long);
    if (!hasOwn && (isParent || takes.includes(name as SharedOption))) command.addOption(option);
  }
  for (const below of command.commands) addSharedOptions(below, takes);
}

/** Options before the command apply to it; a nearer one wins. */
function inherit(command: Command): void {
  const near = command.opts();
  for (let above = command.parent; above !== null; above = above.parent)
    for (const [name, value] of Object.entries(above.opts()))
      if (!(name in near)) command.setOptionValue(name, value);
}
