/** A remote agent as a tool of a catalog: what models see of it, and how its calls are judged and limited. */
import { z } from 'zod';
import { textField, type Tool } from '#policy/define-tool.ts';
import type { RemoteAgent } from './store.ts';

const PREFIX = 'a2a_';
const MAX_MESSAGE = 100_000;
/** Seconds that a task may take. */
const TASK_SECONDS = { standard: 600, max: 86_400 };
/** Seconds of an attempt, which looks at the task and then leaves the worker. */
const ATTEMPT_SECONDS = 120;

export function toolNameOf(name: string): string {
  return `${PREFIX}${name}`;
}

export function isRemoteTool(name: string): boolean {
  return name.startsWith(PREFIX);
}

const input = z.object({
  message: textField(
    MAX_MESSAGE,
    'What it is to do, with all it needs to know (it sees nothing else), or your answer to what it asks',
  ).min(1),
  task_id: textField(300, 'Only for an answer: the task that asks, as its result says').optional(),
  timeout: z
    .int()
    .min(1)
    .max(TASK_SECONDS.max)
    .default(TASK_SECONDS.standard)
    .describe('Seconds that it may take; then the task is cancelled'),
});

export type RemoteWork = z.output<typeof input>;

/** This tool can be judged and shown; a runnable one is made for its call. */
export function catalogedTool({ id, name, description, revision }: RemoteAgent): Tool {
  return {
    name: toolNameOf(name),
    description: `Give work to an agent of another system and wait for its result. ${description}`,
    keywords: 'delegate remote agent outside partner colleague ask task hand over specialist',
    group: 'custom',
    // What a lost attempt began is looked for first.
    replay: 'verify',
    mayContinueOutside: true,
    outside: true,
    definition: { id, revision },
    input,
    limits: { duration: 'long', costly: true, timeoutSeconds: ATTEMPT_SECONDS },
    summary: (args) => (args as RemoteWork).message.slice(0, 300),
    run: () => Promise.reject(new Error('a tool of a catalog does not run')),
  };
}
