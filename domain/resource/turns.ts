/** Turns: the outcome of a message, its steps, and the ledger of its tool calls. */
import { z } from 'zod';
import { isMessageId } from '../ids.ts';
import { comparisonSchema, stepDetailSchema, stepSchema } from '../schema/step.ts';
import { toolCallSchema, turnSchema } from '../schema/turn.ts';
import { defineResource, operation } from './define-resource.ts';

const MAX_STEP = 1_000_000;

export const turns = defineResource(
  {
    path: '/v1/turns',
    tag: 'turns',
    item: turnSchema,
    key: 'id',
    isKey: isMessageId,
    missing: 'There is no turn with this id',
  },
  ({ show, listOf }) => ({
    getTurn: show({ scope: 'read', summary: 'Get a turn', command: { help: 'one turn and its tool calls' } }),
    listTurnToolCalls: listOf('tool-calls', toolCallSchema, {
      scope: 'read',
      summary: 'List a turn’s tool calls in the order they were asked for',
      command: { by: 'turns show' },
    }),
    listTurnSteps: listOf('steps', stepSchema, {
      scope: 'read',
      summary: 'List a turn’s steps: each model call, and the tool calls that its answer asked for',
      description:
        'With times, cost, attempts, approvals and the work that calls gave to other sessions. A step appears when its model has answered.',
      query: {
        after_step: z.coerce.number().int().min(0).max(MAX_STEP).optional().describe('Only later steps'),
      },
      command: {
        help: 'each model call of a turn with its tool calls, time and cost',
        flags: { after_step: ['--after-step <n>', 'only later steps', { kind: 'number' }] },
        columns: {
          step: 'step',
          model: 'model',
          ms: ({ started_at: from, ended_at: to }) => Date.parse(to) - Date.parse(from),
          tokens: ({ input_tokens: read, output_tokens: written }) => read + written,
          usd: 'cost_usd',
          calls: { flexible: ({ calls, text }) => calls.map(callWords).join('; ') || text },
        },
        nothing: 'No step yet.',
      },
    }),
  }),
  () => ({
    getTurnStep: operation({
      scope: 'read',
      method: 'GET',
      path: '/v1/turns/:id/steps/:step',
      params: z.object({ id: z.string(), step: z.coerce.number().int().min(1).max(MAX_STEP) }),
      findsFirst: true,
      summary: 'Get one step of a turn: what the model read, its answer and its calls',
      answer: stepDetailSchema,
      command: { word: 'step', help: 'one step: what the model read, its answer and its calls' },
    }),
    compareTurns: operation({
      scope: 'read',
      method: 'GET',
      path: '/v1/turns/:id/compare/:other',
      params: z.object({ id: z.string(), other: z.string() }),
      findsFirst: true,
      summary: 'Compare two turns: the first step that differs',
      description:
        'Steps are compared one by one: model, text, tools, arguments and results. Ids and times do not count.',
      answer: comparisonSchema,
      command: {
        word: 'compare',
        help: 'the first step in which two turns differ',
        says: ({ first }) =>
          first ? `step ${first.step} differs: ${first.differs.join(', ')}` : 'no step differs',
      },
    }),
  }),
);

function callWords({ summary, state, ok, code }: z.infer<typeof stepSchema>['calls'][number]): string {
  return `${summary} (${state === 'done' ? (ok ? 'ok' : (code ?? 'failed')) : state})`;
}
