/** SH-1, SH-2 for the exec tool: the rules in force and a person's earlier decisions, put to the shell judge. */
import type { EffectiveExec } from '#domain/policy/effective-exec.ts';
import type { ResolveProgram } from '#domain/shell/allowlist.ts';
import { judgeCommand, type ShellVerdict } from '#domain/shell/judge-command.ts';
import { DEFAULT_PATH_RULES } from '#domain/path-rules.ts';

/** The command of exec's arguments, as the shell will get it. */
export function commandOf(args: Readonly<Record<string, unknown>>): string {
  const given = args['command'];
  return typeof given === 'string' ? given : '';
}

/** The folder of exec's arguments that it runs in. */
export function folderOf(args: Readonly<Record<string, unknown>>): string | undefined {
  const given = args['working_dir'];
  return typeof given === 'string' ? given : undefined;
}

export interface CommandWorld {
  /** Entries that `proposeAllowlistEntry` made and a person stored. */
  readonly stored: readonly string[];
  readonly resolve: ResolveProgram;
  /** SH-6: nothing stands there between a command and TempoClaw. */
  readonly openHost?: boolean;
}

/** No setting of an agent changes `deniedPaths`. */
export function judgeExec(
  command: string,
  exec: EffectiveExec,
  world?: CommandWorld,
  deniedPaths: readonly string[] = DEFAULT_PATH_RULES.deniedPrefixes,
): ShellVerdict {
  return judgeCommand(command, { ...exec, ...world, deniedPaths });
}
