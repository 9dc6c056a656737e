/** `tempoclaw evaluations`: rounds in which one agent makes and another judges, and ending one that runs. */
import type { Command } from 'commander';
import { addShow, addStop, listOf } from '#cli/assignment-commands.ts';
import { type PageOptions, pathOf, withPageOptions } from '#cli/command-context.ts';
import { indent, type Output } from '#cli/output.ts';
import { printable } from '#cli/text.ts';
import type { Evaluation, EvaluationDetail } from '#cli/wire.ts';

interface ListOptions extends PageOptions {
  readonly session?: string;
  readonly status?: string;
}

const list = listOf<Evaluation>(
  'evaluation',
  [
    { title: 'generator', cell: (one) => one.generator },
    { title: 'evaluator', cell: (one) => one.evaluator },
    { title: 'label', cell: (one) => one.label, flexible: true },
  ],
  'No evaluate loops.',
);

export function register(evaluations: Command): void {
  withPageOptions(
    evaluations
      .command('list', { isDefault: true })
      .description('newest first')
      .option('--session <key>', 'in which it was begun')
      .option('--status <status>', 'running, approved, not_approved, failed or cancelled'),
  ).action((options: ListOptions) => list(options, pathOf('evaluations'), { session_key: options.session }));
  addShow<EvaluationDetail>(
    evaluations,
    'evaluations',
    'one with all its drafts and verdicts',
    ['rounds'],
    printRounds,
  );
  addStop(evaluations, 'evaluations', 'end one; the turn that waits for it goes on');
}

function printRounds(out: Output, { rounds }: EvaluationDetail): void {
  for (const { round, draft, verdict, feedback } of rounds) {
    out.line(`\nround ${round}: ${verdict ?? 'not judged'}`);
    out.line(indent(printable(draft)));
    if (feedback) out.line(printable(`feedback: ${feedback}`));
  }
}
