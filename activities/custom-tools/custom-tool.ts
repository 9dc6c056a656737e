/** A custom tool as one of the catalog: its template rendered, run where exec runs, within its time (CU-2). */
import { z } from 'zod';
import type { RunningCall, Tool } from '#activities/define-tool.ts';
import type { Deps } from '#activities/deps.ts';
import { commandResult } from '#activities/process/command-text.ts';
import { createProgressFeed } from '#activities/process/progress-feed.ts';
import { boxRequest } from '#activities/sandbox/box-request.ts';
import { withFileProblems } from '#activities/workspace/file-problem.ts';
import { DEFAULT_PATH_RULES } from '#activities/workspace/resolve-path.ts';
import type { CustomToolDefinition } from '#domain/custom-tool/definition.ts';
import { judgeCustomTool } from '#domain/custom-tool/judge.ts';
import { type Arguments, renderCommand } from '#domain/custom-tool/render.ts';
import { readTemplate, type Template } from '#domain/custom-tool/template.ts';
import { registerValues } from '#domain/scrub/registered-values.ts';
import { filesRunBy } from '#domain/shell/run-files.ts';
import { scrubText } from '#domain/scrub/scrub-text.ts';
import { type ToolResult, toolError } from '#domain/tool.ts';
import { argumentsSchema } from './arguments-schema.ts';

export type Environment = Readonly<Record<string, string>>;

/** SIGTERM, 3 s, SIGKILL, and the end of the pipes: as for exec. */
const KILL_SECONDS = 10;

/**
 * `environment` is asked when a call runs, for the values that only the command may see; its failures are the call's.
 * Throws for a template that `readTemplate` refuses, which is checked before a definition is stored.
 */
export function createCustomTool(
  definition: CustomToolDefinition,
  environment: () => Promise<Environment>,
): Tool {
  const { parameters } = definition;
  const read = readTemplate(definition.command, parameters);
  if (!read.ok) throw new Error(`the template of ${definition.name}: ${read.problems.join('; ')}`);
  const { template } = read;
  return {
    name: definition.name,
    description: definition.description || `Runs: ${definition.command}`,
    group: 'custom',
    replay: definition.replay,
    definition: { id: definition.id, revision: definition.revision },
    input: argumentsSchema(parameters, template),
    limits: { duration: 'long', costly: true, timeoutSeconds: definition.timeout_seconds + KILL_SECONDS },
    summary: (input) => {
      const rendered = renderCommand(template, parameters, input as Arguments);
      return rendered.ok ? rendered.command : '';
    },
    judge: (args, exec) =>
      judgeCustomTool(template, parameters, args, {
        categoriesOff: exec.categoriesOff,
        deniedPaths: DEFAULT_PATH_RULES.deniedPrefixes,
        mayAsk: exec.ask !== 'off',
      }),
    runsFiles: (args) => {
      const rendered = renderCommand(template, parameters, args as Arguments);
      return {
        ...filesRunBy(rendered.ok ? rendered.command : ''),
        folder: definition.working_dir ?? undefined,
      };
    },
    run: (deps, input, call) =>
      withFileProblems(async () =>
        runTemplate(deps, { definition, template, args: input as Arguments, env: await environment() }, call),
      ),
  };
}

/** What calls get whose tool is not there any more. */
export function createGoneTool(name: string, why: string): Tool {
  return {
    name,
    description: why,
    group: 'custom',
    replay: 'once',
    gone: `${name} ${why}; the call has not run`,
    input: z.unknown(),
    limits: { duration: 'long', timeoutSeconds: KILL_SECONDS },
    run: async () => toolError('NotFound', why),
  };
}

interface Run {
  readonly definition: CustomToolDefinition;
  readonly template: Template;
  readonly args: Arguments;
  readonly env: Environment;
}

async function runTemplate(
  { files, shell }: Pick<Deps, 'files' | 'shell'>,
  { definition, template, args, env }: Run,
  call: RunningCall,
): Promise<ToolResult> {
  const rendered = renderCommand(template, definition.parameters, args);
  if (!rendered.ok) return toolError('InvalidArgs', rendered.message);
  const secrets = registerValues(Object.values(env));
  const hide = (text: string): string => scrubText(text, secrets).text;
  const timeoutMs = definition.timeout_seconds * 1000;
  const folder = await files.hold(call, definition.working_dir ?? '.', 'run');
  // A piece of a value does not look like it, so that nobody watches a command that has some.
  const feed = secrets.size === 0 ? createProgressFeed(call.progress) : undefined;
  try {
    const outcome = await shell.run({
      command: rendered.command,
      cwd: folder.cwd,
      pwd: folder.path,
      env,
      timeoutMs,
      ...boxRequest(call, folder, timeoutMs),
      callId: call.callId,
      signal: call.signal,
      ...(feed ? { onOutput: feed.take } : {}),
    });
    return withoutSecrets(commandResult(outcome, timeoutMs), hide);
  } finally {
    feed?.end();
    await folder.close();
  }
}

/** SC-2: values that were opened for this call, in whatever form its output has them. */
function withoutSecrets(result: ToolResult, hide: (text: string) => string): ToolResult {
  const whole = result.whole === undefined ? {} : { whole: hide(result.whole) };
  return result.ok
    ? { ...result, text: hide(result.text), ...whole }
    : { ...result, message: hide(result.message), ...whole };
}
