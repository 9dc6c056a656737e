/** Loads the tools of a folder, in both languages, and its hooks. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CodeToolDefinition } from '../schema.ts';
import { provideExports } from '../../provide-exports.ts';
import { type LoadedHook, loadHooks } from './load-hooks.ts';
import { type LoadedTool, loadTools } from './load-tools.ts';
import { hasPythonTools, type PythonProgram, type PythonTools, startPython } from './python.ts';

export interface LoadedFolder {
  /** Of all tools. */
  readonly definitions: readonly CodeToolDefinition[];
  /** Those in TypeScript. */
  readonly tools: readonly LoadedTool[];
  readonly python: PythonTools;
  readonly hooks: readonly LoadedHook[];
  /** Texts for people; each begins with the file. */
  readonly problems: readonly string[];
}

/** Whether the folder contains tools or hooks. */
export function hasCode(folder: string): boolean {
  return existsSync(join(folder, 'tools')) || existsSync(join(folder, 'hooks'));
}

/**
 * `folder` contains `tools/`, `hooks/` or both. `program` has the folder's tools in Python; without it, one is started for this. @throws
 * CliError when they need a Python that is missing
 */
export async function loadFolder(folder: string, program?: PythonProgram): Promise<LoadedFolder> {
  provideExports();
  const { tools, problems } = await loadTools(folder);
  const { hooks, problems: ofHooks } = await loadHooks(folder);
  const python = await readPython(folder, program);
  const names = new Set(tools.map(({ definition }) => definition.name));
  const twice = python.definitions.filter(({ name }) => names.has(name));
  return {
    definitions: [...tools.map(({ definition }) => definition), ...python.definitions],
    tools,
    python,
    hooks,
    problems: [
      ...problems,
      ...ofHooks,
      ...python.problems,
      ...twice.map(({ name }) => `tools/${name}.py: another file makes a tool of this name`),
    ],
  };
}

async function readPython(folder: string, program: PythonProgram | undefined): Promise<PythonTools> {
  if (program) return program.readTools();
  if (!hasPythonTools(folder)) return { definitions: [], problems: [] };
  const started = startPython(folder, 'describe');
  try {
    return await started.readTools();
  } finally {
    await started.end();
  }
}
