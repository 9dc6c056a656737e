/**
 * restore_memory: puts back what a document of memory had before a call wrote it. A document that has changed since stays
 * as it is.
 */
import { z } from 'zod';
import { DOCUMENT_LIMITS } from '#domain/files/document.ts';
import { Failure } from '#domain/errors.ts';
import { toolError } from '#domain/tool.ts';
import { defineTool } from '#policy/define-tool.ts';
import type { MemoryTools } from '../activities/memory-activities.ts';
import { RESTORE_MEMORY } from '../contract.ts';

const input = z.object({
  path: z.string().min(1).max(DOCUMENT_LIMITS.path).describe('The document'),
  call: z.string().min(1).max(200).describe('Id of the call that wrote it'),
});

export const tool = defineTool<z.infer<typeof input>, Pick<MemoryTools, 'memory'>>({
  name: RESTORE_MEMORY,
  description: 'Put back what a document of memory had before a call wrote it.',
  group: 'memory',
  replay: 'idempotent',
  isReversal: true,
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ path }) => path,
  serial: true,
  run: async ({ memory }, { path, call: of }, call) => {
    try {
      const text = await memory.restore(call, path, of);
      if (text === undefined) return toolError('NotFound', `that call has not written this ${path}`);
      return text === null
        ? { ok: true, text: `Document removed: ${path} (it was not there before)` }
        : { ok: true, text: `Document restored: ${path} (${Buffer.byteLength(text)} bytes)` };
    } catch (error) {
      if (error instanceof Failure && error.type === 'Conflict')
        return toolError('InvalidArgs', `${path} has changed since; nothing was restored`);
      throw error;
    }
  },
});
