/**
 * Loads the tools of a folder. Each file of `tools/` has one as its default export, and its name is the tool's; or
 * several, whose names begin with the file's.
 */
import { z } from 'zod';
import { schemaProblem } from '#domain/schema/problem-words.ts';
import { CODE_TOOL, CODE_TOOLS, type CodeTool, type CodeTools } from '../sdk/tool.ts';
import { hashOf, loadCode } from './code-files.ts';
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

/** `folder` contains `tools/`, or hooks alone. */
export async function loadTools(folder: string): Promise<LoadedTools> {
  const { items, problems } = await loadCode(folder, 'tools', toolsOf);
  return { tools: items, problems };
}

/** What a file makes, or what is wrong with it. */
async function toolsOf(name: string, made: unknown, file: string): Promise<readonly LoadedTool[] | string> {
  if (isCodeTools(made)) return loadSeveral(name, made, file);
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
  return parsed.success ? { tool, definition: parsed.data } : schemaProblem(parsed.error, 'the tool');
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
