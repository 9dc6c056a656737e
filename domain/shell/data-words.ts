/**
 * The words of a command that do something. Patterns, messages and what is only printed are data: `grep 'docker.sock'` reaches
 * for no socket.
 */
import { textWordsOf } from './path-words.ts';
import { isHarmlessScript } from './safe/script-programs.ts';
import { argumentsOf, programOf, type ShellCommand, type ShellWord } from './shell-command.ts';
import { habitOf } from './text-arguments.ts';

/** A script of sed or awk is data only when it starts and opens nothing. */
export function actingWordsOf(command: ShellCommand): readonly ShellWord[] {
  const habit = habitOf(programOf(command));
  if ((habit === 'sed' || habit === 'awk') && !isHarmlessScript(command)) return argumentsOf(command);
  const texts = textWordsOf(command);
  return argumentsOf(command).filter((word) => !texts.has(word));
}
