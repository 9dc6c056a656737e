/** Which files of the workspace a call has changed, as its row tells. */

interface CallFacts {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly ok: boolean | null;
  readonly code: string | null;
  readonly started_at: unknown;
}

/** Tools that change the file that `path` names, and no other. */
const FILE_TOOLS: ReadonlySet<string> = new Set(['write_file', 'edit']);

/** Null when nobody knows: a command may have changed any, and so may a call whose outcome is unknown. */
export function changedFiles({
  tool,
  args,
  ok,
  code,
  started_at: from,
}: CallFacts): readonly string[] | null {
  if (tool === 'exec') return from === null ? [] : null;
  const { path } = args;
  if (!FILE_TOOLS.has(tool) || typeof path !== 'string') return [];
  if (code === 'OutcomeUnknown') return null;
  return ok ? [path] : [];
}
