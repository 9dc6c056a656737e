/** Limits of each command that an agent runs, whichever tool runs it. */
import type { ToolResult } from '#domain/tool.ts';
import { withNote } from './in-folder.ts';

/** TL: at most five minutes, whatever is requested. */
export const MAX_TIMEOUT_SECONDS = 300;
/** SIGTERM, 3 s, SIGKILL, and the end of the pipes. */
export const KILL_SECONDS = 10;
/** Linux permits 128 KiB in one argument. */
export const MAX_COMMAND_BYTES = 120_000;

/** Adds a note when the time limit was shorter than requested. */
export function cutNotice(result: ToolResult, requested: number | undefined): ToolResult {
  if (requested === undefined || requested <= MAX_TIMEOUT_SECONDS) return result;
  return withNote(
    result,
    `timeout ${requested} was cut to ${MAX_TIMEOUT_SECONDS} s, the most that a command may have; exec with background has no limit`,
  );
}
