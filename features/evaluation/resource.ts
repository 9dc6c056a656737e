/** Rounds of making and judging that agents began (DE-4). */
import { z } from 'zod';
import { byId, fieldsOf, stop, stopCommand } from '#domain/resource/assignments.ts';
import { indent } from '#domain/resource/command.ts';
import { defineResource } from '#domain/resource/define-resource.ts';
import { sessionKeySchema } from '#domain/schema/scalars.ts';
import { EVALUATION_STATUSES } from './contract.ts';
import { evaluationDetailSchema, evaluationSchema, evaluationStopReceiptSchema } from './schema.ts';

export const evaluations = defineResource(
  {
    path: '/v1/evaluations',
    tag: 'delegations',
    item: evaluationSchema,
    ...byId,
    missing: 'There is no evaluate loop with this id',
  },
  ({ list, show, action }) => ({
    listEvaluations: list({
      scope: 'read',
      summary: 'List evaluate loops, newest first',
      query: {
        session_key: sessionKeySchema.optional().describe('The session that began it'),
        status: z.enum(EVALUATION_STATUSES).optional(),
      },
      command: {
        help: 'newest first',
        flags: {
          session_key: ['--session <key>', 'in which it was begun'],
          status: ['--status <status>', 'running, approved, not_approved, failed or cancelled'],
        },
        columns: {
          evaluation: 'id',
          status: 'status',
          generator: 'generator',
          evaluator: 'evaluator',
          label: { flexible: 'label' },
          started: { ago: 'created_at' },
        },
        nothing: 'No evaluate loops.',
      },
    }),
    getEvaluation: show({
      scope: 'read',
      summary: 'Get an evaluate loop with all its drafts and verdicts',
      answer: evaluationDetailSchema,
      command: {
        help: 'one with all its drafts and verdicts',
        fields: ({ rounds: _rounds, ...one }) => fieldsOf(one),
        says: ({ rounds }) =>
          rounds
            .flatMap(({ round, draft, verdict, feedback }) => [
              `\nround ${round}: ${verdict ?? 'not judged'}`,
              indent(draft),
              ...(feedback ? [`feedback: ${feedback}`] : []),
            ])
            .join('\n'),
      },
    }),
    stopEvaluation: action('stop')({
      ...stop,
      summary: 'Stop an evaluate loop',
      description: 'The turn that waits for it goes on with what it has.',
      answer: evaluationStopReceiptSchema,
      command: stopCommand('end one; the turn that waits for it goes on'),
    }),
  }),
);
