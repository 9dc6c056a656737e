/**
 * Implements `tempoclaw evaluations`: rounds in which one agent produces and another judges. It also stops one that
 * runs.
 */
import type { Command } from 'commander';
import { addAssignmentCommands } from '#cli/assignment-commands.ts';
import { indent } from '#cli/output.ts';
import { printable } from '#cli/text.ts';
import type { Evaluation, EvaluationDetail } from '#cli/wire.ts';

export function register(evaluations: Command): void {
  addAssignmentCommands<Evaluation, EvaluationDetail>(evaluations, {
    kind: 'evaluations',
    list: {
      help: 'newest first',
      path: '/v1/evaluations',
      flags: {
        session_key: { flags: '--session <key>', help: 'in which it was begun' },
        status: { flags: '--status <status>', help: 'running, approved, not_approved, failed or cancelled' },
      },
      title: 'evaluation',
      columns: [
        { title: 'generator', cell: (one) => one.generator },
        { title: 'evaluator', cell: (one) => one.evaluator },
        { title: 'label', cell: (one) => one.label, flexible: true },
      ],
      nothing: 'No evaluate loops.',
    },
    show: 'one with all its drafts and verdicts',
    hidden: ['rounds'],
    more(out, { rounds }) {
      for (const { round, draft, verdict, feedback } of rounds) {
        out.line(`\nround ${round}: ${verdict ?? 'not judged'}`);
        out.line(indent(printable(draft)));
        if (feedback) out.line(printable(`feedback: ${feedback}`));
      }
    },
    stop: 'end one; the turn that waits for it goes on',
  });
}
