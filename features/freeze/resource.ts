/** DU-11: calls that are held back before they start, until somebody lifts that. */
import { z } from 'zod';
import { patternProblem } from '#domain/policy/tool-groups.ts';
import { defineResource } from '#domain/resource/define-resource.ts';
import { nameSchema, textSchema, timeSchema } from '#domain/schema/scalars.ts';

/** Freezes in force of a tenant; each worker has them in memory. */
export const MAX_FREEZES = 100;
const MAX_PATTERNS = 50;

const patternSchema = textSchema(200).superRefine((pattern, context) => {
  const problem = patternProblem(pattern);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

const scope = {
  agent: nameSchema.optional().describe('Only the calls of this agent; else of all'),
  revision: z.int().min(1).optional().describe('Only turns that run with this revision of the agent'),
  tools: z
    .array(patternSchema)
    .min(1)
    .max(MAX_PATTERNS)
    .optional()
    .describe('Only calls of these tools, as policy names them; else calls of tools and models'),
};

const createSchema = z
  .strictObject({ reason: textSchema(500).describe('For people'), ...scope })
  .refine(({ agent, revision }) => revision === undefined || agent !== undefined, {
    path: ['revision'],
    message: 'needs an agent',
  })
  .meta({ examples: [{ reason: 'Refunds are wrong since this morning', tools: ['refund'] }] });

export const freezeSchema = z.object({
  id: z.string(),
  reason: z.string(),
  agent: z.string().nullable(),
  revision: z.int().nullable(),
  tools: z.array(z.string()).nullable(),
  created_by: z.string(),
  created_at: timeSchema,
  lifted_by: z.string().nullable(),
  lifted_at: timeSchema.nullable(),
});

export type ShownFreeze = z.infer<typeof freezeSchema>;

function shownScope({ agent, revision, tools }: ShownFreeze): string {
  const of = agent === null ? 'every agent' : revision === null ? agent : `${agent} revision ${revision}`;
  return tools === null ? of : `${of}: ${tools.join(', ')}`;
}

export const freezes = defineResource(
  {
    path: '/v1/freezes',
    tag: 'policy',
    item: freezeSchema,
    key: 'id',
    isDefinition: true,
    missing: 'There is no freeze with this id',
  },
  ({ list, create, action }) => ({
    listFreezes: list({
      scope: 'read',
      summary: 'List freezes, the newest first',
      description: 'A freeze is in force while `lifted_at` is null.',
      command: {
        help: 'those in force and the ones before them',
        columns: {
          freeze: 'id',
          holds: shownScope,
          reason: { flexible: 'reason' },
          since: { ago: 'created_at' },
          lifted: { ago: 'lifted_at' },
        },
        nothing: 'Nothing is frozen.',
      },
    }),
    createFreeze: create({
      scope: 'admin',
      summary: 'Hold back calls before they start',
      description:
        'Within two seconds no call that it names starts in any worker. What has started goes on, and messages are accepted. Held turns wait, survive crashes, and go on when the freeze is lifted.',
      body: createSchema,
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'create',
        help: 'hold back all calls, or those of an agent, a revision or tools',
        arguments: ['reason'],
        flags: {
          agent: ['--agent <agent>', 'only its calls'],
          revision: ['--revision <number>', 'only turns with this revision of the agent'],
          tools: ['--tools <tools>', 'only these, with commas between them', { kind: 'commas' }],
        },
        says: (made) =>
          `${made.id} holds back ${shownScope(made)}; lift it by: tempoclaw freezes lift ${made.id}`,
      },
    }),
    liftFreeze: action('lift')({
      scope: 'admin',
      summary: 'Let the held calls go on',
      description: 'They start at once, unless another freeze holds them. Lifting it again changes nothing.',
      body: z.strictObject({}).default({}),
      command: {
        word: 'lift',
        help: 'let the held calls go on',
        says: ({ id }) => `${id} holds back nothing any more`,
      },
    }),
  }),
);
