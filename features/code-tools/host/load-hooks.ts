/** Loads the hooks of a folder. Each file of `hooks/` has one as its default export, and its name is the hook's. */
import { schemaProblem } from '#domain/schema/problem-words.ts';
import { type CodeHookDefinition, codeHookSchema } from '../schema.ts';
import { CODE_HOOK, type CodeHook } from '../sdk/hook.ts';
import { hashOf, loadCode } from './code-files.ts';

export interface LoadedHook {
  readonly hook: CodeHook;
  readonly definition: CodeHookDefinition;
}

export interface LoadedHooks {
  readonly hooks: readonly LoadedHook[];
  /** Texts for people; each begins with the file. */
  readonly problems: readonly string[];
}

/** Without `hooks/` there are none. */
export async function loadHooks(folder: string): Promise<LoadedHooks> {
  const { items, problems } = await loadCode(folder, 'hooks', hookOf);
  return { hooks: items, problems };
}

/** What a file makes, or what is wrong with it. */
async function hookOf(name: string, made: unknown, file: string): Promise<readonly LoadedHook[] | string> {
  if (!isCodeHook(made)) return 'its default export must be made with hook({ … }) of tempoclaw';
  if (typeof made.run !== 'function') return 'run must be a function';
  const { event, tools, agents, secrets = [], timeout } = made;
  const parsed = codeHookSchema.safeParse({
    name,
    event,
    ...(tools !== undefined && { tools }),
    ...(agents !== undefined && { agents }),
    secrets,
    ...(timeout !== undefined && { timeout_seconds: timeout }),
    hash: hashOf(file),
  });
  return parsed.success ? [{ hook: made, definition: parsed.data }] : schemaProblem(parsed.error, 'the hook');
}

function isCodeHook(value: unknown): value is CodeHook {
  return typeof value === 'object' && value !== null && CODE_HOOK in value;
}
