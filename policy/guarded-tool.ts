/** An activity of another program as a tool, so that the rules judge its calls like all others. */
import { z } from 'zod';
import type { ReplayClass } from '#domain/tool.ts';
import { toolError } from '#domain/tool.ts';
import { GUARDED_GROUP } from '#domain/policy/tool-groups.ts';
import type { Tool } from './define-tool.ts';

const anyArguments = z.record(z.string(), z.unknown());

/** Its program checks the arguments, and runs it. */
export function guardedTool(name: string, replay: ReplayClass): Tool {
  return {
    name,
    description: `The activity ${name} of another program`,
    group: GUARDED_GROUP,
    outside: true,
    replay,
    input: anyArguments,
    limits: { duration: 'long', timeoutSeconds: 10 },
    run: async () => toolError('ExecutionFailed', `${name} runs in its own program, and not here`),
  };
}
