/** Which tools run commands, and what the canonical arguments of such a call contain. */
import { quoteWord } from '@tempoclaw/shell-judge';

type Arguments = Readonly<Record<string, unknown>>;

/** For a tool whose caller provides a command: the line that the shell gets and that is judged (SH-1, SH-2). */
const LINES: Readonly<Record<string, (args: Arguments) => string>> = {
  exec: ({ command }) => (typeof command === 'string' ? command : ''),
  // Each word is quoted, so that no shell interprets it.
  spawn_process: ({ command, args }) => [command, ...(Array.isArray(args) ? args : [])].map(word).join(' '),
};

function word(value: unknown): string {
  return quoteWord(typeof value === 'string' ? value : '');
}

/** Undefined for tools that run no commands. */
export function lineOf(tool: string, args: Arguments): string | undefined {
  return Object.hasOwn(LINES, tool) ? LINES[tool]?.(args) : undefined;
}

/** Names of a shell's tool here and in other systems: a rule that names one applies to commands of every tool. */
export const COMMAND_NAMES = ['exec', 'bash', 'exec_shell'] as const;

/** Whether calls of the tool are judged as commands of a shell. */
export function isCommand(tool: string): boolean {
  return Object.hasOwn(LINES, tool);
}

/** The folder that the command runs in. */
export function folderOf(args: Arguments): string | undefined {
  const value = args['working_dir'];
  return typeof value === 'string' ? value : undefined;
}
