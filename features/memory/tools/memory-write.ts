/** memory_write: adds to MEMORY.md or a document below memory/, or writes it anew. */
import { z } from 'zod';
import type { MemoryTools } from '../activities/memory-activities.ts';
import { DOCUMENT_LIMITS } from '#domain/files/document.ts';
import { Failure } from '#domain/errors.ts';
import { MEMORY_FILE, memoryPath, RESTORE_MEMORY } from '../contract.ts';
import { toolError } from '#domain/tool.ts';
import { defineTool, type MadeCall, type Redirect } from '#policy/define-tool.ts';

const input = z.object({
  content: z
    .string()
    .min(1)
    .max(DOCUMENT_LIMITS.bytes)
    .describe('Markdown. Facts with their dates and names, so that each can be understood alone. No secrets'),
  mode: z
    .enum(['append', 'overwrite'])
    .default('append')
    .describe('append adds a paragraph at the end; overwrite replaces the whole document'),
  path: z
    .string()
    .min(1)
    .max(DOCUMENT_LIMITS.path)
    .default(MEMORY_FILE)
    .describe('MEMORY.md, or a path below memory/ that ends in .md, such as memory/projects/kitchen.md'),
});

export const tool = defineTool<z.infer<typeof input>, Pick<MemoryTools, 'memory'>>({
  name: 'memory_write',
  description:
    'Write something down for later conversations: to MEMORY.md, or to a document below memory/. It can be found with memory_search a moment later.',
  keywords:
    'remember keep note down save store permanently forget learn preference user fact likes next time do not code address phone number password decision rule always never birthday habit memorize record mind in profile',
  group: 'memory',
  common: true,
  replay: 'idempotent',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ path, mode }) => `${mode} ${path}`,
  inverse,
  forms: {
    clawft: {
      description: 'Write to MEMORY.md in append or overwrite mode.',
      input: input.pick({ content: true, mode: true }),
    },
  },
  serial: true,
  run: async ({ memory }, { content, mode, path }, call) => {
    const known = memoryPath(path);
    if (known?.endsWith('.md') !== true)
      return toolError(
        'InvalidPath',
        `${path} is no document of memory: write to MEMORY.md, or to a path below memory/ that ends in .md`,
      );
    try {
      const { revision } = await memory.write(call, known, content, mode);
      return { ok: true, text: `Written to ${known} (revision ${revision}).` };
    } catch (error) {
      if (error instanceof Failure && error.type === 'InvalidInput')
        return toolError('InvalidArgs', error.message);
      throw error;
    }
  },
});

/** A write whose result was lost may not have been made. */
function inverse(
  { path = MEMORY_FILE }: Readonly<Record<string, unknown>>,
  { id, isUncertain }: MadeCall,
): Redirect | undefined {
  const known = memoryPath(String(path));
  if (isUncertain || known === undefined) return undefined;
  return { tool: RESTORE_MEMORY, args: { path: known, call: id } };
}
