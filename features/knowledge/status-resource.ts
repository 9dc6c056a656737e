/** How much of an agent's memory is in its knowledge graph, for callers that wait until all of it is. */
import { z } from 'zod';
import { isName } from '#domain/ids.ts';
import { labelSchema, nameSchema } from '#domain/schema/scalars.ts';
import { defineResource, operation } from '#domain/resource/define-resource.ts';
import { knowledgeStatusSchema } from './resource.ts';

export const knowledgeStatusOfAgent = defineResource(
  {
    path: '/v1/agents',
    tag: 'agents',
    item: knowledgeStatusSchema,
    key: 'key',
    isKey: isName,
    missing: 'There is no agent with this key',
  },
  () => ({
    getKnowledgeStatus: operation({
      method: 'GET',
      path: '/v1/agents/:key/knowledge/status',
      scope: 'read',
      summary: 'See what of an agent’s memory is in its knowledge graph',
      description: 'Of the user’s own; without one of the agent’s own. A key of a user sees that user’s.',
      params: z.object({ key: nameSchema }),
      query: z.strictObject({ user: labelSchema.optional() }),
      answer: knowledgeStatusSchema,
      refuses: ['NotFound', 'Forbidden'],
      command: { none: 'for programs that wait until memory is read' },
    }),
  }),
);
