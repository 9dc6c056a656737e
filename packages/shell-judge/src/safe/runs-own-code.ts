/**
 * Whether a command runs code of the workspace: a language, a shell or a project's runner on its files, or a program by
 * its path. Where nothing confines commands, a person is asked about these each time.
 */
import { argumentsOf, programOf, type ShellCommand } from '../shell-command.ts';
import { INTERPRETERS, SHELLS } from '../parse/wrappers.ts';
import { LANGUAGE_RUNNERS } from './language-runners.ts';
import { PROJECT_RUNNERS } from './project-runners.ts';

/** It reads and writes files, but runs none of them. */
const FORMATTERS = new Set(['gofmt']);
const SYSTEM_FOLDER = /^(?:\/usr)?\/s?bin\/[\w.+-]+$/;
const SAYS_VERSION = /^(?:--version|-V|--help)$/;

export function runsOwnCode(command: ShellCommand): boolean {
  const name = command.words[0]?.value ?? '';
  const program = programOf(command);
  const args = argumentsOf(command).map((word) => word.value);
  if (name.includes('/') && !SYSTEM_FOLDER.test(name)) return true;
  if (args.length > 0 && args.every((arg) => SAYS_VERSION.test(arg))) return false;
  // The text after -c is judged separately.
  if (SHELLS.has(program)) return !args.some((arg) => /^-[a-z]*c$/.test(arg));
  const isRunner = PROJECT_RUNNERS.has(program) || LANGUAGE_RUNNERS.has(program);
  return INTERPRETERS.test(program) || (isRunner && !FORMATTERS.has(program));
}
