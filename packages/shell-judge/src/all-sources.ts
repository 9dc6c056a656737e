/** The sources of a command's input: everything that is piped or substituted into it, through any number of steps. */
import type { ShellCommand, ShellInput } from './shell-command.ts';

/** Each command appears once, so that long pipes of groups stay linear. */
export function allSources(first: readonly ShellCommand[]): ReadonlySet<ShellCommand> {
  const seen = new Set<ShellCommand>();
  const waiting = [...first];
  for (let command = waiting.pop(); command !== undefined; command = waiting.pop()) {
    if (seen.has(command)) continue;
    seen.add(command);
    for (const each of inputSources(command.input)) waiting.push(each);
  }
  return seen;
}

/** The commands whose output forms an input, one step back. */
export function inputSources(input: ShellInput | null): readonly ShellCommand[] {
  if (input?.kind === 'pipe') return input.from;
  return input?.kind === 'text' ? input.sources : [];
}
