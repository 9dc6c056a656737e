/** The tree of commands: the root knows each by name, and a command's module fills it in when it is used. */
import { Command, Option } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { COMMANDS, type CommandEntry } from './commands.ts';

/** Accepted before the command, and behind it by each command that has a use for them. */
const GLOBAL_OPTIONS = [
  ['--json', 'print JSON for programs'],
  ['--url <url>', 'the API to talk to (or TEMPOCLAW_URL; else run.json of the state folder)'],
  ['--api-key <key>', 'its key; TEMPOCLAW_API_KEY keeps it out of the list of processes'],
  ['--state-dir <folder>', 'the state folder (or TEMPOCLAW_STATE_DIR; else the nearest .tempoclaw)'],
  ['--config <file>', 'settings file (default: tempoclaw.yaml, if there is one)'],
] as const;

export function createProgram(): Command {
  const program = new Command('tempoclaw')
    .description('Runs tool-using AI agents as durable, approvable, visible Temporal workflows.')
    .usage('[options] <command>')
    .version(manifest.version)
    .exitOverride()
    .enablePositionalOptions()
    .showHelpAfterError('(see: tempoclaw --help)')
    .optionsGroup('Options, before the command or behind it:')
    .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.')
    .helpCommand(false);
  for (const [flags, text] of GLOBAL_OPTIONS) program.option(flags, text);
  const entries = new Map<Command, CommandEntry>();
  for (const entry of COMMANDS)
    entries.set(program.command(entry.name).description(entry.summary).helpGroup(entry.group), entry);
  program
    .command('help')
    .description('the help of a command, as --help behind it')
    .helpGroup('Help:')
    .argument('[command...]')
    .action(async (names: string[]) => {
      await program.parseAsync([...names, '--help'], { from: 'user' });
    });
  program.hook('preSubcommand', (_program, command) => fill(entries, command));
  program.hook('preAction', (_program, command) => inherit(command));
  return program;
}

async function createWholeProgram(): Promise<Command> {
  const program = createProgram();
  for (const command of program.commands) {
    const entry = COMMANDS.find(({ name }) => name === command.name());
    (await entry?.load())?.register(command, createWholeProgram);
  }
  return program;
}

async function fill(entries: Map<Command, CommandEntry>, command: Command): Promise<void> {
  const entry = entries.get(command);
  if (entry === undefined) return;
  entries.delete(command);
  (await entry.load()).register(command, createWholeProgram);
  addGlobalOptions(command);
}

/** A command with others below it takes the options between the names too: `sessions --json list`. */
function addGlobalOptions(command: Command): void {
  if (command.commands.length === 0) return;
  for (const [flags] of GLOBAL_OPTIONS) command.addOption(new Option(flags).hideHelp());
  for (const below of command.commands) addGlobalOptions(below);
}

/** What was said before the command holds for it; what stands nearer to it wins. */
function inherit(command: Command): void {
  const near = command.opts();
  for (let above = command.parent; above !== null; above = above.parent)
    for (const [name, value] of Object.entries(above.opts()))
      if (!(name in near)) command.setOptionValue(name, value);
}
