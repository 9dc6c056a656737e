/** How much of an agent's memory is indexed, for callers that wait until all of it is (VF-2). */
import { z } from 'zod';
import { isName } from '#domain/ids.ts';
import { labelSchema, nameSchema } from '#domain/schema/scalars.ts';
import { defineResource, operation } from '#domain/resource/define-resource.ts';

export const memoryStatusSchema = z.object({
  documents: z.int().meta({ description: 'Of memory, those that the user sees' }),
  chunks: z.int().meta({ description: 'Pieces of them that a search finds' }),
  pending: z
    .int()
    .meta({ description: 'Documents that the index does not hold as they are; 0: all is found' }),
  embedder: z
    .string()
    .nullable()
    .meta({ description: 'The model for vectors; null: search goes by words alone' }),
});

const query = z.strictObject({ user: labelSchema.optional() });
const params = z.object({ key: nameSchema });

export const memory = defineResource(
  {
    path: '/v1/agents',
    tag: 'agents',
    item: memoryStatusSchema,
    key: 'key',
    isKey: isName,
    missing: 'There is no agent with this key',
  },
  () => ({
    getMemoryStatus: operation({
      method: 'GET',
      path: '/v1/agents/:key/memory/status',
      scope: 'read',
      summary: 'See what of an agent’s memory is indexed',
      description: 'Of what the user sees; without one of the agent’s own. A key of a user sees that user’s.',
      params,
      query,
      answer: memoryStatusSchema,
      refuses: ['NotFound', 'Forbidden'],
      command: { none: 'for programs that wait until memory is read' },
    }),
  }),
);
