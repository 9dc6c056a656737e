/** evaluate_loop: one agent makes, another judges, until it approves or the rounds are used up (DE-4). */
import { z } from 'zod';
import { defineTool, textField } from '#policy/define-tool.ts';
import type { Evaluations } from '../begin-evaluation.ts';
import { delegationLabel } from '#domain/assignment/delegation-words.ts';
import { EVALUATE_LIMITS, EVALUATE_WORDS, roundsOf } from '../contract.ts';
import { toolError } from '#domain/tool.ts';

const input = z.object({
  generator: textField(64, 'Key of the agent that makes the result').optional(),
  evaluator: textField(
    64,
    'Key of the agent that judges it: APPROVED, or REJECTED: and what must be changed',
  ).optional(),
  task: textField(EVALUATE_LIMITS.task, 'What is to be made, with all that both need to know').optional(),
  max_rounds: z.number().optional().describe('Rounds at most: 3, never more than 5'),
  pass_criteria: textField(10_000, 'What the evaluator judges by').optional(),
  context: textField(EVALUATE_LIMITS.task, 'More that the generator should know').optional(),
  team_task_id: textField(
    128,
    'The task of your team’s board that the result is for, when the generator is a member of the team that you lead: claimed for it, and completed when the evaluator approves',
  ).optional(),
});

export const tool = defineTool<z.infer<typeof input>, { readonly evaluations: Evaluations }>({
  name: 'evaluate_loop',
  description:
    'Have one agent make a result and another judge it, in rounds, until it is approved. Waits for the end; the result says how many rounds it took and whether it passed.',
  keywords:
    'revise iterate refine improve critic review reviewer feedback quality score draft satisfied until good check again polish improving criteria grade evaluate rewrite loop repeatedly better version',
  group: 'delegation',
  replay: 'idempotent',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ generator, evaluator, task }) =>
    `${generator ?? '?'} and ${evaluator ?? '?'}: ${delegationLabel(task ?? '')}`,
  run: async ({ evaluations }, args, call) => {
    const { generator, evaluator, pass_criteria: criteria, context } = args;
    const task = args.task?.trim() ?? '';
    if (!generator || !evaluator || task === '') return toolError('InvalidArgs', EVALUATE_WORDS.missing);
    if ([task, criteria, context].some((text) => text?.includes('\0')))
      return toolError('InvalidArgs', 'no text may hold the character NUL');
    const started = await evaluations.begin(call, {
      generator,
      evaluator,
      task,
      label: delegationLabel(task),
      criteria,
      context,
      rounds: roundsOf(args.max_rounds),
      taskId: args.team_task_id?.trim() || undefined,
    });
    if (started.kind === 'refused') return toolError(started.code, started.message);
    return { ok: true, text: 'The rounds have begun.', child: started.child };
  },
});
