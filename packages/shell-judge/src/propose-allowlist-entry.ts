/** What “allow always” would store for a command, or why nothing can be stored safely. */
import {
  type CommandPlace,
  entryProblem,
  formatEntry,
  type ResolveProgram,
  resolverAt,
  displayEntry,
} from './allowlist.ts';
import { expandCommands } from './parse/expand-commands.ts';
import { findProblems } from './find-problems.ts';
import { foldCommand, MAX_COMMAND_LENGTH } from './parse/fold-command.ts';
import { runsOwnCode } from './safe/runs-own-code.ts';
import { programOf, type ShellCommand } from './shell-command.ts';
import { INTERPRETERS, SHELLS, WRAPPERS } from './parse/wrappers.ts';

/** The entry and the form that people see, or why there is none. */
export type AllowlistProposal =
  | { readonly pattern: string; readonly shown: string }
  | { readonly refused: string };

/** A scrubber's replacement of a secret: the command differs from the one that would run. */
const REDACTED = '[REDACTED]';

/** Builtins that run their arguments. */
const RUNS_TEXT = new Set(
  'eval source . trap alias find fd make npx uvx bunx docker podman kubectl ssh'.split(' '),
);

/**
 * The file that one plain command starts and its exact arguments. Wrappers, interpreters with code, compound commands
 * and programs that `resolve` does not find are refused.
 */
export function proposeAllowlistEntry(
  command: string,
  resolve: ResolveProgram,
  place: CommandPlace = 'host',
): AllowlistProposal {
  if (command.length > MAX_COMMAND_LENGTH) return { refused: 'it is too long' };
  const { folded, refused } = foldCommand(command);
  if (refused !== null) return { refused };
  if (folded !== command) return { refused: 'it has characters that are easily taken for others' };
  const shell = expandCommands(command);
  const [only, ...others] = shell.commands;
  if (!only || shell.problem !== null) return { refused: 'it cannot be read as one command' };
  const reason = openness(only) ?? (others.length > 0 ? 'it is more than one command' : null);
  if (reason !== null) return { refused: reason };
  if (place === 'open_host' && runsOwnCode(only))
    return { refused: 'it may run code of the workspace, on a host without a whole wall' };
  const denied = findProblems(shell, [], []).find((each) => each.severity === 'deny' && !each.isForAuthors);
  if (denied) return { refused: denied.reason };
  return entryOf(
    only.words.map((word) => word.value),
    place,
    resolve,
  );
}

function entryOf(words: readonly string[], place: CommandPlace, resolve: ResolveProgram): AllowlistProposal {
  const [name = '', ...args] = words;
  if (args.some((word) => word.includes(REDACTED))) return { refused: 'it holds a secret' };
  if (place === 'image') return { refused: 'it runs in a sandbox, whose programs are its image’s' };
  const program = resolverAt(place, resolve)(name);
  if (program === null)
    return { refused: `there is no program ${name} that only owners of the machine can change` };
  const pattern = formatEntry({ ...program, args });
  const problem = entryProblem(pattern);
  return problem === null ? { pattern, shown: displayEntry(pattern) } : { refused: problem };
}

/** Says why the command's words do not determine what it does, or null. */
function openness(command: ShellCommand): string | null {
  const program = programOf(command);
  if (program === '') return 'it starts no program';
  if (SHELLS.has(program) || WRAPPERS.has(program) || RUNS_TEXT.has(program))
    return `${program} runs whatever it is given`;
  if (command.words.some((word) => !word.isLiteral || word.isGlob || word.isAmbiguous))
    return 'its words change with what the shell expands';
  if (command.assignments.length > 0) return 'it sets variables';
  if (command.redirects.length > 0) return 'it redirects input or output';
  return programOpenness(command.words[0]?.value ?? '', command.words[1]?.value ?? '', program);
}

function programOpenness(name: string, argument: string, program: string): string | null {
  // A file in the workspace can be another program tomorrow.
  if (name.includes('/') && !/^(?:\/usr)?\/bin\/[^/]+$/.test(name)) return 'it starts a program by its path';
  const isFile = /^(?:\.\/)?[\w@][\w@./+-]*$/.test(argument);
  return INTERPRETERS.test(program) && !isFile ? `${program} runs code that is given to it` : null;
}
