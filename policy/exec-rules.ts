/** Which tools are commands, and what the arguments of one say, as canonical arguments have them. */
import { quoteWord } from '@tempoclaw/shell-judge';

type Arguments = Readonly<Record<string, unknown>>;

/** Of a tool that runs what its caller says as a command: the line that the shell gets, and that is judged (SH-1, SH-2). */
const LINES: Readonly<Record<string, (args: Arguments) => string>> = {
  exec: ({ command }) => (typeof command === 'string' ? command : ''),
  // Each word is quoted: nothing in it is read by a shell.
  spawn_process: ({ command, args }) => [command, ...(Array.isArray(args) ? args : [])].map(word).join(' '),
};

function word(value: unknown): string {
  return quoteWord(typeof value === 'string' ? value : '');
}

/** Undefined for tools that are no commands. */
export function lineOf(tool: string, args: Arguments): string | undefined {
  return Object.hasOwn(LINES, tool) ? LINES[tool]?.(args) : undefined;
}

/** What a shell's tool is called here and elsewhere: a rule that names one is about commands, whichever tool runs them. */
export const COMMAND_NAMES = ['exec', 'bash', 'exec_shell'] as const;

/** Whether calls of the tool are judged as commands of a shell. */
export function isCommand(tool: string): boolean {
  return Object.hasOwn(LINES, tool);
}

/** The folder that it runs in. */
export function folderOf(args: Arguments): string | undefined {
  const value = args['working_dir'];
  return typeof value === 'string' ? value : undefined;
}
