/** A custom tool as one of the catalog. Its rendered template is judged as exec's command is (CU-2). */
import { filesRunBy } from '@tempoclaw/shell-judge';
import type { Tool } from '#policy/define-tool.ts';
import type { CustomToolDefinition } from '../rules/definition.ts';
import { judgeCustomTool } from '../rules/judge.ts';
import { type Arguments, renderCommand } from '../rules/render.ts';
import { readTemplate } from '../rules/template.ts';
import { argumentsSchema } from './arguments-schema.ts';

/** SIGTERM, 3 s, SIGKILL, and the end of the pipes, as for exec. */
const KILL_SECONDS = 10;

/**
 * This tool can be judged and shown; a runnable one is made for its call. Throws for a template that `readTemplate`
 * refuses, which is checked before a definition is stored.
 */
export function catalogedTool(definition: CustomToolDefinition): Tool {
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
        deniedPaths: exec.deniedPaths,
        ask: exec.ask,
      }),
    runsFiles: (args) => {
      const rendered = renderCommand(template, parameters, args as Arguments);
      return {
        ...filesRunBy(rendered.ok ? rendered.command : ''),
        folder: definition.working_dir ?? undefined,
      };
    },
    run: () => Promise.reject(new Error('a tool of a catalog does not run')),
  };
}
