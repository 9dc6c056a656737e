/** The `tempoclaw` command: it runs one command line, and turns every outcome into words and an exit code. */
import '../config/prepare-variables.ts';
import './use-features-of-run.ts';
import { CommanderError } from 'commander';
import { CliError, EXIT, type ExitCode, usageError } from './cli-error.ts';
import { createOutput, fitted } from './output.ts';
import { REMEDIES } from '#domain/remedies.ts';
import { FEATURE_PROBLEMS, FEATURES } from '#features';
import { commandsOf } from './commands.ts';
import { createProgram } from './program.ts';

/** Runs one command line (as `process.argv`); returns the exit code instead of exiting. */
export async function main(argv: readonly string[]): Promise<ExitCode> {
  const isJson = argv.includes('--json');
  // What needs the settings is refused with these; other commands go on without the features.
  if (!isJson) for (const problem of FEATURE_PROBLEMS) createOutput(process.stderr).line(problem);
  try {
    await createProgram(commandsOf(FEATURES), isJson).parseAsync([...argv]);
    return typeof process.exitCode === 'number' ? (process.exitCode as ExitCode) : EXIT.ok;
  } catch (error) {
    return report(error, isJson);
  }
}

function report(error: unknown, isJson: boolean): ExitCode {
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
  // For people, commander has printed its own message before this.
  if (error instanceof CommanderError && !isJson) return EXIT.usage;
  const known = foreseen(error);
  const { code, message, remedy } = known ?? { code: 'Internal', message: String(error), remedy: undefined };
  const err = createOutput(process.stderr);
  if (isJson) {
    err.line(
      JSON.stringify({ error: { ...factsOf(code, message, known), remedy: remedy || remedyOf(code) } }),
    );
  } else {
    err.line(fitted(err, `${err.paint('red', '✘')} ${message}`));
    if (remedy) err.line(fitted(err, `  ${remedy}`));
  }
  // An unexpected error is a bug, and a bug needs its stack.
  if (!known && error instanceof Error) err.line(err.paint('dim', error.stack ?? ''));
  return known?.exitCode ?? EXIT.failed;
}

function factsOf(code: string, message: string, known: CliError | undefined): object {
  return { code, ...(known?.forPrograms() ?? { message }) };
}

/** Programs always get one, also where people need none. */
function remedyOf(code: string): string {
  const known: Readonly<Record<string, string>> = { ...REMEDIES, Usage: 'See: tempoclaw --help' };
  return known[code] ?? 'Read `message`, which says what failed.';
}

function foreseen(error: unknown): CliError | undefined {
  if (error instanceof CliError) return error;
  if (error instanceof CommanderError)
    return usageError(
      error.code === 'commander.help' ? 'a subcommand is missing' : error.message.replace(/^error: /, ''),
    );
  // A file that the command line names, or the terminal; `message` has the path.
  if (isOfFiles(error)) return new CliError(error.message, { code: 'FileFailed' });
  // It checks the name, because the schema of the settings takes longer to load than most commands.
  const isConfig = error instanceof Error && error.name === 'ConfigError';
  return isConfig ? new CliError(error.message, { code: 'Config' }) : undefined;
}

function isOfFiles(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'path' in error;
}

// `tempoclaw sessions | head` closes the pipe early; that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  report(
    new CliError(`The output cannot be written: ${error.message}.`, { code: 'FileFailed' }),
    process.argv.includes('--json'),
  );
  process.exit(EXIT.failed);
});
// Nobody reads what is said there; the result on stdout is as good.
process.stderr.on('error', () => undefined);
process.on('SIGINT', () => {
  // Commands that handle Ctrl-C listen for it themselves.
  if (process.listenerCount('SIGINT') === 1) process.exit(EXIT.interrupted);
});

const code = await main(process.argv);
process.exitCode = code;
