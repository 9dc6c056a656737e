/** Runs a custom tool: it renders the template, and runs it where exec runs, within its time limit (CU-2). */
import { registerValues, scrubText } from '@tempoclaw/scrubber';
import { commandResult } from '#activities/process/command-text.ts';
import { boxOf, type InFolder, inFolder } from '#activities/process/in-folder.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { withFileProblems } from '#activities/workspace/file-problem.ts';
import type { HeldFolder } from '#activities/workspace/contract.ts';
import type { CustomToolDefinition } from '../rules/definition.ts';
import { type Arguments, renderCommand } from '../rules/render.ts';
import { type ToolResult, toolError } from '#domain/tool.ts';
import { readTemplate, type Template } from '../rules/template.ts';
import { catalogedTool } from '../policy/custom-tool.ts';
import type { Environment } from '../policy/tool-environment.ts';
import type { RunningCall, Tool, ToolSpec } from '#policy/define-tool.ts';

/**
 * `environment` is called when a call runs, for the values that only the command may see; its failures are the call's.
 * Throws for a template that cannot be read.
 */
export function runnableTool(
  definition: CustomToolDefinition,
  environment: () => Promise<Environment>,
): Tool {
  const tool: ToolSpec<unknown, Pick<ToolDeps, 'files' | 'shell'>> = {
    ...catalogedTool(definition),
    run: (deps, input, call) =>
      withFileProblems(async () =>
        runTemplate(deps, { definition, args: input as Arguments, env: await environment() }, call),
      ),
  };
  return tool as Tool;
}

interface Run {
  readonly definition: CustomToolDefinition;
  readonly args: Arguments;
  readonly env: Environment;
}

async function runTemplate(
  { files, shell }: Pick<ToolDeps, 'files' | 'shell'>,
  { definition, args, env }: Run,
  call: RunningCall,
): Promise<ToolResult> {
  const rendered = renderCommand(templateOf(definition), definition.parameters, args);
  if (!rendered.ok) return toolError('InvalidArgs', rendered.message);
  const secrets = registerValues(Object.values(env));
  const hide = (text: string): string => scrubText(text, secrets).text;
  const timeoutMs = definition.timeout_seconds * 1000;
  // Part of a value does not look like the value, so that the output of a command with secrets is not streamed.
  const isWatched = secrets.size === 0;
  const run = async (place: InFolder, folder: HeldFolder): Promise<ToolResult> => {
    const box = boxOf(call, folder, timeoutMs);
    const outcome = await shell.run({ ...place, command: rendered.command, env, timeoutMs, box });
    return withoutSecrets(commandResult(outcome, timeoutMs), hide);
  };
  return inFolder(files, call, definition.working_dir, run, isWatched);
}

/** SC-2: hides values that were opened for this call, in whatever form its output contains them. */
function withoutSecrets(result: ToolResult, hide: (text: string) => string): ToolResult {
  const whole = result.whole === undefined ? {} : { whole: hide(result.whole) };
  return result.ok
    ? { ...result, text: hide(result.text), ...whole }
    : { ...result, message: hide(result.message), ...whole };
}

function templateOf({ name, command, parameters }: CustomToolDefinition): Template {
  const read = readTemplate(command, parameters);
  if (!read.ok) throw new Error(`the template of ${name}: ${read.problems.join('; ')}`);
  return read.template;
}
