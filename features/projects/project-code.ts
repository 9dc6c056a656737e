/** The tools and hooks of a folder, as they are registered. */
import {
  type CodeHookDefinition,
  type CodeToolDefinition,
  hasCode,
  loadFolder,
} from '#features/code-tools/index.ts';

export interface ProjectCode {
  readonly definitions: readonly CodeToolDefinition[];
  readonly hooks: readonly CodeHookDefinition[];
  readonly problems: readonly string[];
}

export async function codeOf(folder: string): Promise<ProjectCode> {
  if (!hasCode(folder)) return { definitions: [], hooks: [], problems: [] };
  const { definitions, hooks, problems } = await loadFolder(folder);
  return { definitions, hooks: hooks.map(({ definition }) => definition), problems };
}
