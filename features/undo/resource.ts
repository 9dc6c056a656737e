/** DU-9: what the calls of a turn have done, reversed. */
import { z } from 'zod';
import { defineResource, operation } from '#domain/resource/define-resource.ts';
import { waitSchema } from '#domain/schema/message.ts';
import { REVERSALS } from './contract.ts';

/** Calls of one turn that reverse others; each answer has at most 64. */
export const MAX_REVERSED = 64;
const DEFAULT_WAIT_SECONDS = 60;

const reversalSchema = z.object({
  call_id: z.string(),
  tool: z.string(),
  args: z.record(z.string(), z.unknown()).describe('As people may see them'),
  action: z
    .enum(REVERSALS)
    .describe(
      '`reverse`: it is, or can be, reversed by `by`; `running`, `reversed`: by an earlier request; `nothing`: it changed nothing; `irreversible`; `unknown`: nobody knows whether it took effect, so look yourself',
    ),
  reason: z.string().nullable(),
  by: z
    .object({ tool: z.string(), args: z.record(z.string(), z.unknown()) })
    .nullable()
    .describe('The call that reverses it'),
});

const undoSchema = z.object({
  turn_id: z.string(),
  undo_turn_id: z
    .string()
    .nullable()
    .describe('The turn that reverses; null when there is nothing to reverse'),
  status: z.string().nullable().describe('Of that turn'),
  calls: z.array(reversalSchema).describe('Newest first, in the order in which they are reversed'),
});

const path = '/v1/turns/:id/undo';
const params = z.object({ id: z.string() });

export const turnUndo = defineResource(
  {
    path: '/v1/turns',
    tag: 'turns',
    item: undoSchema,
    key: 'id',
    missing: 'There is no turn with this id',
  },
  () => ({
    planUndo: operation({
      method: 'GET',
      path,
      params,
      scope: 'read',
      summary: 'See how the calls of a turn can be reversed',
      description: 'Nothing is run. Work that a call gave to other turns is undone by those.',
      answer: undoSchema,
      command: { by: 'undo' },
    }),
    undoTurn: operation({
      method: 'POST',
      path,
      params,
      scope: 'run',
      repeatable: true,
      summary: 'Reverse what the calls of a turn have done',
      description: `A turn of the same session runs the calls that reverse them, newest first: policy, approvals and the record apply as to any call, and each call is reversed once, also when this is requested again. At most ${MAX_REVERSED} at a time; request it again for more. 200 when it has ended, 202 while it waits for an approval or still runs.`,
      query: z.strictObject({ wait: waitSchema.default(DEFAULT_WAIT_SECONDS) }),
      body: z
        .strictObject({
          calls: z
            .array(z.string().max(200))
            .min(1)
            .max(MAX_REVERSED)
            .optional()
            .describe('Ids of the calls to reverse; else all that can be'),
        })
        .default({})
        .meta({ examples: [{}] }),
      answer: undoSchema,
      mayGoOn: true,
      refuses: ['Conflict', 'QueueFull'],
      command: { by: 'undo' },
    }),
  }),
);
