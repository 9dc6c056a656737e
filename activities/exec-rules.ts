/** SH-1, SH-2 for the exec tool: the rules in force and a person's earlier decisions, put to the shell judge. */
import type { EffectiveExec } from '#domain/policy/effective-exec.ts';
import { judgeCommand, type ShellVerdict } from '#domain/shell/judge-command.ts';
import { DEFAULT_PATH_RULES } from './workspace/resolve-path.ts';

/** The command of exec's arguments, as the shell will get it. */
export function commandOf(args: Readonly<Record<string, unknown>>): string {
  const given = args['command'];
  return typeof given === 'string' ? given : '';
}

/** `stored`: entries that `proposeAllowlistEntry` made and a person stored. No setting of an agent changes `deniedPaths`. */
export function judgeExec(
  command: string,
  exec: EffectiveExec,
  stored: readonly string[] = [],
  deniedPaths: readonly string[] = DEFAULT_PATH_RULES.deniedPrefixes,
): ShellVerdict {
  return judgeCommand(command, { ...exec, allowlist: [...exec.allowlist, ...stored], deniedPaths });
}
