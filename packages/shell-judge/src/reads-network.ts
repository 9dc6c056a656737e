/**
 * Whether a command reads from the network, as far as its own text shows. Programs that fetch by themselves are not
 * recognized.
 */
import { DOWNLOADERS } from './download-then-run.ts';
import { expandCommands } from './parse/expand-commands.ts';
import { MAX_COMMAND_LENGTH } from './parse/fold-command.ts';
import { subcommandOf } from './rules/rule.ts';
import { argumentsOf, programOf, type ShellCommand } from './shell-command.ts';
import { INTERPRETERS } from './parse/wrappers.ts';

const COPIERS = new Set([
  'scp',
  'sftp',
  'rsync',
  'telnet',
  'rclone',
  's3cmd',
  'yt-dlp',
  'youtube-dl',
  'dig',
  'host',
]);
const GIT = /^(?:clone|fetch|pull|ls-remote|archive|submodule|remote (?:update|show))\b/;
const NETWORK_FILE = /^\/dev\/(?:tcp|udp)\//;
const ADDRESS = /\b(?:https?|ftps?|wss?):\/\//i;

/** Text that is too long or cannot be parsed may do so. */
export function readsNetwork(command: string): boolean {
  if (command.length > MAX_COMMAND_LENGTH) return true;
  const shell = expandCommands(command);
  return shell.problem !== null || shell.marks.has('unknown_script') || shell.commands.some(isReader);
}

function isReader(command: ShellCommand): boolean {
  const program = programOf(command);
  if (DOWNLOADERS.has(program) || COPIERS.has(program)) return true;
  if (program === 'git' && GIT.test(subcommandOf(command))) return true;
  if (command.redirects.some(({ target }) => target !== null && NETWORK_FILE.test(target.value))) return true;
  // Code in the line, and addresses that a program fetches.
  return INTERPRETERS.test(program) && argumentsOf(command).some(({ value }) => ADDRESS.test(value));
}
