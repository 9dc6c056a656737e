/** Questions to a program about itself. */
import { argumentsOf, programOf, type ShellCommand } from './shell-command.ts';

/** `sudo --version`, `pip install --help`: it prints a text and does nothing else. */
export function isQuestion(command: ShellCommand): boolean {
  if (command.isOpen || command.redirects.length > 0 || command.assignments.length > 0) return false;
  const args = argumentsOf(command);
  if (args.some((word) => !word.isLiteral)) return false;
  const line = args.map((word) => word.value).join(' ');
  const program = programOf(command);
  return (
    /^--(?:help|version)$/.test(line) ||
    (/^(?:ssh|sudo)$/.test(program) && line === '-V') ||
    (/^(?:pip[\d.]*|npm|pnpm|cargo|gem|brew|apt(?:-get)?)$/.test(program) && /^[a-z]+ --help$/.test(line))
  );
}
