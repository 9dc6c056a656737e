/**
 * Loads the tools of a folder. Each file of `tools/` has one as its default export, and its name is the tool's; or
 * several, whose names begin with the file's.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { CODE_TOOL, CODE_TOOLS, type CodeTool, type CodeTools } from '../sdk/tool.ts';
import { createUndoTool, undoToolName } from './undo-tool.ts';
import { type CodeToolDefinition, codeToolSchema } from '../schema.ts';

export interface LoadedTool {
  readonly tool: CodeTool;
  readonly definition: CodeToolDefinition;
}

export interface LoadedTools {
  readonly tools: readonly LoadedTool[];
  /** Texts for people; each begins with the file. */
  readonly problems: readonly string[];
}

const TOOL_FILE = /^([a-z][a-z0-9_]*)\.(?:ts|mts|js|mjs)$/;
/** What may stand beside tools: their tests, and modules that several of them share. */
const BESIDE = /^_|\.test\.|\.d\.ts$/;

/** Resolves `tempoclaw` to this build, so that a folder needs no installation of its own. */
export function provideSdk(): void {
  const url = new URL('../sdk.ts', import.meta.url).href;
  registerHooks({
    resolve: (name, context, next) =>
      name === 'tempoclaw' ? { url, shortCircuit: true } : next(name, context),
  });
}

/** `folder` contains `tools/`. */
export async function loadTools(folder: string): Promise<LoadedTools> {
  const dir = join(resolve(folder), 'tools');
  if (!existsSync(dir)) return { tools: [], problems: [`${dir}: there is no such folder`] };
  const tools: LoadedTool[] = [];
  const problems: string[] = [];
  const files = readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.m?[jt]s$/.test(entry.name) && !BESIDE.test(entry.name))
    .map(({ name }) => name);
  for (const file of files.toSorted()) {
    const loaded = await loadFile(join(dir, file));
    if (typeof loaded === 'string') problems.push(`tools/${file}: ${loaded}`);
    else tools.push(...loaded);
  }
  return { tools, problems };
}

/** Its tools, or what is wrong with it. */
async function loadFile(file: string): Promise<readonly LoadedTool[] | string> {
  const [, name] = TOOL_FILE.exec(basename(file)) ?? [];
  if (name === undefined) return 'its name must be a-z, 0-9 and _, a letter first: it is the tool’s name';
  let made: unknown;
  try {
    made = ((await import(pathToFileURL(file).href)) as { readonly default?: unknown }).default;
    if (isCodeTools(made)) return await loadSeveral(name, made, file);
  } catch (error) {
    return importProblem(error, file);
  }
  if (!isCodeTool(made)) return 'its default export must be made with tool({ … }) or openapi(…) of tempoclaw';
  const loaded = problemOf(made) ?? loadedTool(name, made, hashOf(file));
  if (typeof loaded === 'string') return loaded;
  const undo = createUndoTool(name, made);
  const reversal = undo && loadedTool(undoToolName(name), undo, hashOf(file), name);
  if (typeof reversal === 'string') return reversal;
  return reversal ? [loaded, reversal] : [loaded];
}

async function loadSeveral(
  prefix: string,
  made: CodeTools,
  file: string,
): Promise<readonly LoadedTool[] | string> {
  const { tools, source } = await made[CODE_TOOLS]();
  const hash = hashOf(file, source);
  const loaded = Array.from(tools, ([name, tool]) => ({
    name,
    loaded: loadedTool(`${prefix}_${name}`, tool, hash),
  }));
  const problems = loaded.flatMap(({ name, loaded: one }) =>
    typeof one === 'string' ? `${name}: ${one}` : [],
  );
  if (problems.length > 0) return problems.join('; ');
  return loaded.flatMap(({ loaded: one }) => (typeof one === 'string' ? [] : one));
}

/** The tool with its definition, or what is wrong with it. `undoes`: the tool whose calls it reverses. */
function loadedTool(name: string, tool: CodeTool, hash: string, undoes?: string): LoadedTool | string {
  const { description, replay, probe, approval = false, outside = false, secrets = [], timeout = 60 } = tool;
  const parsed = codeToolSchema.safeParse({
    name,
    description,
    parameters: tool.parameters ?? parametersOf(tool.input),
    replay,
    probes: probe !== undefined,
    ...(tool.undo && { undone_by: undoToolName(name) }),
    ...(undoes !== undefined && { undoes }),
    approval,
    outside,
    secrets,
    timeout_seconds: timeout,
    hash,
  });
  return parsed.success
    ? { tool, definition: parsed.data }
    : z.prettifyError(parsed.error).replaceAll('\n', ' ');
}

function isCodeTools(value: unknown): value is CodeTools {
  return typeof value === 'object' && value !== null && CODE_TOOLS in value;
}

function isCodeTool(value: unknown): value is CodeTool {
  return typeof value === 'object' && value !== null && CODE_TOOL in value;
}

function problemOf({ run, probe, undo, replay, input }: CodeTool): string | undefined {
  if (typeof run !== 'function') return 'run must be a function';
  if (probe !== undefined && replay !== 'once') return 'only a tool that may run once has a probe';
  if (undo !== undefined && replay === 'read') return 'a tool that only reads has no undo';
  if (!(input instanceof z.ZodObject) && parametersOf(input)['type'] !== 'object')
    return 'input must be z.object({ … })';
  const fields = Object.entries(parametersOf(input)['properties'] ?? {});
  const bare = fields.find(([, field]) => !(field as { readonly description?: string }).description);
  return bare && `input: ${bare[0]} has no description; add .describe('…'), which the model reads`;
}

function parametersOf(input: z.ZodType): Record<string, unknown> {
  const { $schema: _schema, ...parameters } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  return parameters as Record<string, unknown>;
}

/** The error with the line of the file that it is about. */
function importProblem(error: unknown, file: string): string {
  if (!(error instanceof Error)) return String(error);
  const after = error.stack?.split(`${file}:`)[1] ?? '';
  const line = /^\d+/.exec(after)?.[0];
  return line === undefined ? error.message : `${error.message} (line ${line})`;
}

/** Matches imports of files beside it. */
const IMPORTS = /(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g;

/**
 * Of the file, of the files that it imports by relative names, and of `source`: half of a SHA-256, in the form of a UUID.
 */
function hashOf(file: string, source = ''): string {
  const texts = new Map<string, string>();
  const open = [file];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (texts.has(next) || !existsSync(next)) continue;
    const text = readFileSync(next, 'utf8');
    texts.set(next, text);
    for (const [, relative] of text.matchAll(IMPORTS)) open.push(join(dirname(next), relative ?? ''));
  }
  const hash = createHash('sha256').update(source);
  for (const [path, text] of [...texts].toSorted()) hash.update(`${basename(path)}\0${text}\0`);
  return hash.digest('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5');
}
