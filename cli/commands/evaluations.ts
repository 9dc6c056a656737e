/** `tempoclaw evaluations`: rounds in which one agent makes and another judges, and ending one that runs. */
import type { Command } from 'commander';
import {
  type ApiOptions,
  createContext,
  type PageOptions,
  pageQuery,
  pathOf,
  printPage,
  withApiOptions,
  withPageOptions,
} from '#cli/command-context.ts';
import { indent, printFields, printJson, statusStyle } from '#cli/output.ts';
import { stopWork } from '#cli/stop-work.ts';
import { agoWords, printable } from '#cli/text.ts';
import type { Evaluation, EvaluationDetail } from '#cli/wire.ts';

interface ListOptions extends PageOptions {
  readonly session?: string;
  readonly status?: string;
}

export function register(evaluations: Command): void {
  withPageOptions(
    evaluations
      .command('list', { isDefault: true })
      .description('newest first')
      .option('--session <key>', 'in which it was begun')
      .option('--status <status>', 'running, approved, not_approved, failed or cancelled'),
  ).action(list);
  withApiOptions(
    evaluations.command('show').description('one with all its drafts and verdicts').argument('<id>'),
  ).action(show);
  withApiOptions(
    evaluations
      .command('stop')
      .description('end one; the turn that waits for it goes on')
      .argument('<id>')
      .option('--reason <text>', 'why'),
  ).action(stopWork('evaluations'));
}

async function list(options: ListOptions): Promise<void> {
  const now = Date.now();
  const { session, status } = options;
  await printPage<Evaluation>(
    createContext(options),
    pathOf('evaluations'),
    { ...pageQuery(options), session_key: session, status },
    [
      { title: 'evaluation', cell: (one) => one.id },
      { title: 'status', cell: (one) => one.status, style: (one) => statusStyle(one.status) },
      { title: 'generator', cell: (one) => one.generator },
      { title: 'evaluator', cell: (one) => one.evaluator },
      { title: 'label', cell: (one) => one.label, flexible: true },
      { title: 'started', cell: (one) => agoWords(one.created_at, now) },
    ],
    'No evaluate loops.',
  );
}

async function show(id: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const evaluation = await client.get<EvaluationDetail>(pathOf('evaluations', id));
  if (json) return printJson(out, evaluation);
  const { rounds, error, links, ...fields } = evaluation;
  printFields(out, {
    ...fields,
    error: error ? `${error.code}: ${error.message}` : undefined,
    temporal: links.temporal,
  });
  for (const { round, draft, verdict, feedback } of rounds) {
    out.line(`\nround ${round}: ${verdict ?? 'not judged'}`);
    out.line(indent(printable(draft)));
    if (feedback) out.line(printable(`feedback: ${feedback}`));
  }
}
