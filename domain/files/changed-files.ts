/** Which files of the workspace a call has changed, as its row tells. */

interface CallFacts {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly custom_tool_id: string | null;
  readonly ok: boolean | null;
  readonly code: string | null;
  readonly changed_files: readonly string[] | null;
  readonly started_at: unknown;
}

/** In a record it stands for any file. */
export const ANY_FILE = '';

/** Tools that change the file that `path` names, and no other: nothing more is recorded of them. */
const FILE_TOOLS: ReadonlySet<string> = new Set(['write_file', 'edit']);
/** Custom tools are commands, too. */
const COMMANDS: ReadonlySet<string> = new Set(['exec', 'process']);
/** Greatest number of characters of a record. */
const MAX_RECORD = 8_192;

/** What the row of a call keeps; undefined when its arguments tell as much. */
export function recordedFiles(tool: string, paths: readonly string[]): readonly string[] | undefined {
  if (FILE_TOOLS.has(tool)) return undefined;
  return paths.includes(ANY_FILE) || paths.join().length > MAX_RECORD ? [ANY_FILE] : paths.toSorted();
}

/** Null when nobody knows: a command that was lost or continues may have changed any. */
export function changedFiles(call: CallFacts): readonly string[] | null {
  const { tool, changed_files: recorded, args, ok } = call;
  if (recorded !== null) return recorded.includes(ANY_FILE) ? null : recorded;
  if (call.code === 'OutcomeUnknown') return null;
  if (COMMANDS.has(tool) || call.custom_tool_id !== null) return call.started_at === null ? [] : null;
  return ok === true && FILE_TOOLS.has(tool) && typeof args['path'] === 'string' ? [args['path']] : [];
}
