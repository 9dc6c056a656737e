/** The `tempoclaw` command: picks the command's module, and turns every end into words and an exit code. */
import '../config/unset-empty-variables.ts';
import { Command, CommanderError } from 'commander';
import { ConfigError } from '#config';
import manifest from '../package.json' with { type: 'json' };
import { CliError, EXIT, type ExitCode } from '#cli/cli-error.ts';
import { createOutput } from '#cli/output.ts';

type CommandModule = { register(program: Command): void };

/** In the order of the help. A module is loaded when its command is used, so that no command waits for another's. */
const COMMANDS: Readonly<Record<string, () => Promise<CommandModule>>> = {
  up: () => import('#cli/commands/up.ts'),
  doctor: () => import('#cli/commands/doctor.ts'),
  chat: () => import('#cli/commands/chat.ts'),
  run: () => import('#cli/commands/run.ts'),
  approvals: () => import('#cli/commands/approvals.ts'),
  sessions: () => import('#cli/commands/sessions.ts'),
  subagents: () => import('#cli/commands/subagents.ts'),
  teams: () => import('#cli/commands/teams.ts'),
  tasks: () => import('#cli/commands/team-tasks.ts'),
  delegations: () => import('#cli/commands/delegations.ts'),
  evaluations: () => import('#cli/commands/evaluations.ts'),
  handoffs: () => import('#cli/commands/handoffs.ts'),
  turns: () => import('#cli/commands/turns.ts'),
  agents: () => import('#cli/commands/agents.ts'),
  'agent-links': () => import('#cli/commands/agent-links.ts'),
  policy: () => import('#cli/commands/policy.ts'),
  allowlist: () => import('#cli/commands/allowlist.ts'),
  budgets: () => import('#cli/commands/budgets.ts'),
  usage: () => import('#cli/commands/usage.ts'),
  tools: () => import('#cli/commands/tools.ts'),
  'secure-clis': () => import('#cli/commands/secure-clis.ts'),
  secrets: () => import('#cli/commands/secrets.ts'),
  explain: () => import('#cli/commands/explain.ts'),
  sandbox: () => import('#cli/commands/sandbox.ts'),
  demo: () => import('#cli/commands/demo.ts'),
};

/** Runs one command line (as `process.argv`); returns the exit code instead of leaving. */
export async function main(argv: readonly string[]): Promise<ExitCode> {
  const isJson = argv.includes('--json');
  try {
    const program = new Command('tempoclaw')
      .description('Runs tool-using AI agents as durable, approvable, visible Temporal workflows.')
      .version(manifest.version)
      .exitOverride()
      .showHelpAfterError('(see: tempoclaw --help)')
      .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.');
    const wished = argv[2] ?? '';
    const loaders = Object.hasOwn(COMMANDS, wished) ? [COMMANDS[wished]] : Object.values(COMMANDS);
    for (const load of loaders) (await load?.())?.register(program);
    await program.parseAsync([...argv]);
    return typeof process.exitCode === 'number' ? (process.exitCode as ExitCode) : EXIT.ok;
  } catch (error) {
    return report(error, isJson);
  }
}

function report(error: unknown, isJson: boolean): ExitCode {
  // commander has printed its own words by now.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const known = foreseen(error);
  const { code, message, remedy } = known ?? { code: 'Internal', message: String(error), remedy: undefined };
  const err = createOutput(process.stderr);
  if (isJson) {
    err.line(JSON.stringify({ error: { code, message, ...(remedy && { remedy }) } }));
  } else {
    err.line(`${err.paint('red', '✘')} ${message}`);
    if (remedy) err.line(`  ${remedy}`);
  }
  // An error that nobody foresaw is a bug, and a bug needs its stack.
  if (!known && error instanceof Error) err.line(err.paint('dim', error.stack ?? ''));
  return known?.exitCode ?? EXIT.failed;
}

function foreseen(error: unknown): CliError | undefined {
  if (error instanceof CliError) return error;
  return error instanceof ConfigError ? new CliError(error.message, { code: 'Config' }) : undefined;
}

// `tempoclaw sessions | head` closes the pipe early; that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  throw error;
});
process.on('SIGINT', () => {
  // Commands that do something with Ctrl-C listen for it themselves.
  if (process.listenerCount('SIGINT') === 1) process.exit(EXIT.interrupted);
});

const code = await main(process.argv);
process.exitCode = code;
