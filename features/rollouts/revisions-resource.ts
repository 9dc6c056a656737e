/** DU-10: the revisions of an agent, and the way back to one. */
import { z } from 'zod';
import { isName } from '#domain/ids.ts';
import { defineResource, operation } from '#domain/resource/define-resource.ts';
import { agentSchema } from '#domain/schema/agent.ts';
import { differenceSchema, revisionSchema, wholeRevisionSchema } from './schema.ts';

function differenceText({ fields, from, to }: z.infer<typeof differenceSchema>): string {
  if (fields.length === 0) return `${from} and ${to} are the same`;
  return fields
    .map(({ field, before, after }) => [field, ...linesOf('-', before), ...linesOf('+', after)].join('\n'))
    .join('\n');
}

function linesOf(sign: string, value: unknown): readonly string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
  return (value === null ? '(absent)' : text).split('\n').map((line) => `${sign} ${line}`);
}

const number = z.coerce.number().int().min(1).max(2_147_483_647);

export const agentRevisions = defineResource(
  {
    path: '/v1/agents',
    tag: 'agents',
    item: agentSchema,
    key: 'key',
    isKey: isName,
    missing: 'There is no agent with this key, or no such revision',
  },
  ({ listOf, action }) => ({
    listAgentRevisions: listOf('revisions', revisionSchema, {
      scope: 'read',
      summary: 'List the revisions of an agent, the newest first',
      command: {
        help: 'every revision: when, by whom, and what differs',
        columns: {
          revision: 'revision',
          is: ({ current, in_rollout: rolled }) => (current ? 'current' : rolled ? 'in a rollout' : ''),
          by: 'created_by',
          digest: ({ digest }) => digest.slice(0, 12),
          differs: { flexible: ({ fields }) => fields.join(', ') },
          made: { ago: 'created_at' },
        },
        nothing: 'No revisions.',
      },
    }),
    putAgentBack: action('back')({
      scope: 'admin',
      summary: 'Make an agent as a revision of it was',
      description: 'By a new revision: those that were stay as they are.',
      body: z
        .strictObject({
          to: z.int().min(1).optional().describe('The revision before the current one when absent'),
        })
        .default({}),
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'back',
        help: 'make it as an earlier revision was, by a new one',
        flags: { to: ['--to <n>', 'the revision before the current one when absent', { kind: 'number' }] },
        says: ({ key, revision }) => `agent ${key} has revision ${revision} now`,
      },
    }),
  }),
  () => ({
    getAgentRevision: operation({
      scope: 'read',
      method: 'GET',
      path: '/v1/agents/:key/revisions/:revision',
      params: z.object({ key: z.string(), revision: number }),
      findsFirst: true,
      summary: 'Get a revision of an agent',
      answer: wholeRevisionSchema,
      command: { word: 'revision', help: 'one revision with its settings' },
    }),
    compareAgentRevisions: operation({
      scope: 'read',
      method: 'GET',
      path: '/v1/agents/:key/revisions/:revision/compare/:other',
      params: z.object({ key: z.string(), revision: number, other: number }),
      findsFirst: true,
      summary: 'Compare two revisions of an agent, field by field',
      answer: differenceSchema,
      command: { word: 'compare', help: 'the fields in which two revisions differ', says: differenceText },
    }),
  }),
);
