/** Implements `tempoclaw undo TURN`: shows how the calls of a turn can be reversed, and reverses them. */
import type { Command } from 'commander';
import { isAgreed } from '#cli/agree.ts';
import { call } from '#cli/call.ts';
import { CliError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext } from '#cli/command-context.ts';
import { type Output, printJson } from '#cli/output.ts';
import { printable } from '#cli/text.ts';
import { turnUndo } from '../resource.ts';
import type { PlannedReversal } from '../plan.ts';
import type { ReversalAction } from '../contract.ts';

interface UndoOptions extends ApiOptions {
  readonly plan?: boolean;
  readonly yes?: boolean;
  readonly call?: readonly string[];
}

const WAIT_SECONDS = 60;

export function register(undo: Command): void {
  undo
    .argument('<turn>', 'id of the turn')
    .option('--plan', 'only show what would be reversed')
    .option('--call <ids...>', 'only these calls')
    .option('--yes', 'do not ask')
    .action(run);
}

async function run(id: string, options: UndoOptions): Promise<void> {
  const context = createContext(options);
  const { client, out, json } = context;
  const { planUndo, undoTurn } = turnUndo.operations;
  const plan = await call(client, planUndo, { params: { id } });
  const calls = options.call && [...options.call];
  const unknown = calls?.find((one) => !plan.calls.some(({ call_id }) => call_id === one));
  if (unknown !== undefined) throw new CliError(`${unknown} is no call of this turn.`, { code: 'NotFound' });
  const chosen = plan.calls.filter(({ call_id }) => !calls || calls.includes(call_id));
  const open = chosen.filter(({ action }) => action === 'reverse').length;
  if (options.plan) return json ? printJson(out, { ...plan, calls: chosen }) : printPlan(out, chosen);
  if (!json) printPlan(out, chosen);
  if (open > 0 && !(await isAgreed(context, { yes: options.yes, message: 'Reverse these calls?' }))) return;
  const done = await call(client, undoTurn, {
    params: { id },
    query: { wait: WAIT_SECONDS },
    body: { calls },
  });
  if (json) return printJson(out, done);
  if (done.undo_turn_id === null) return out.line('Nothing was reversed.');
  out.line();
  printPlan(out, done.calls);
  out.line(`The turn ${done.undo_turn_id} is ${done.status}.`);
  if (done.status === 'waiting_approval') out.line('It waits for approvals: npx tempoclaw approvals list');
}

interface ShownCall extends Pick<PlannedReversal, 'action' | 'reason' | 'by'> {
  readonly call_id: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

const WORDS: Readonly<Record<ReversalAction, string>> = {
  reverse: 'to reverse',
  running: 'in progress',
  reversed: 'reversed',
  nothing: 'nothing to do',
  irreversible: 'not reversible',
  unknown: 'unknown',
};
const ARGUMENTS = 80;

function printPlan(out: Output, calls: readonly ShownCall[]): void {
  if (calls.length === 0) out.line('The turn has made no calls.');
  for (const { call_id, tool, args, action, reason, by } of calls) {
    out.line(`${WORDS[action].padEnd(15)} ${call_id}  ${lineOf(tool, args)}`);
    const why = action === 'reverse' && by ? `by ${lineOf(by.tool, by.args)}` : reason;
    if (why !== null) out.line(out.paint('dim', `${' '.repeat(16)}${printable(why)}`));
  }
}

function lineOf(tool: string, args: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify(args);
  return printable(`${tool} ${text.length <= ARGUMENTS ? text : `${text.slice(0, ARGUMENTS)}…`}`);
}
