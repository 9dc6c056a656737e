/** Says what a crash demo proved, from the ledger's rows, in words that claim no more than the rows say. */
import { outcomeOf, timeOf } from '#cli/commands/turns.ts';
import { durationWords, oneLine, printable } from '#cli/text.ts';
import { indent } from '#domain/resource/command.ts';
import { fitted, type Output, printTable } from '#cli/output.ts';
import type { Tool, ToolCall, Turn } from '#cli/wire.ts';

export interface CrashProof {
  readonly turn: Turn;
  readonly killedWorker: number | null;
  readonly newWorker: number | null;
  readonly calls: readonly (ToolCall & { readonly replay: Tool['replay'] })[];
  readonly file: string;
  /** Lines that write_file appended, one for each run. Null when the file could not be read. */
  readonly linesWritten: number | null;
}

export function printProof(out: Output, proof: CrashProof): void {
  const { turn } = proof;
  const { paint } = out;
  const say = (line = ''): void => out.line(fitted(out, line));
  say(`\n${paint('bold', 'What the ledger says')}`);
  printTable<CrashProof['calls'][number]>(
    out,
    {
      step: 'step',
      tool: 'tool',
      replay: 'replay',
      outcome: { cell: outcomeOf, style: (call) => (outcomeOf(call) === 'ok' ? 'green' : 'yellow') },
      time: timeOf,
    },
    proof.calls,
  );
  for (const [meaning, calls] of Map.groupBy(proof.calls, meaningOf))
    say(`  ${calls.map(({ step }) => step).join(', ')}: ${meaning}`);
  say(`\n${paint('bold', 'What that proves')}`);
  for (const [holds, words] of claims(proof))
    say(`  ${holds ? paint('green', '✔') : paint('red', '✘')} ${words}`);
  if (turn.text) say(`\n${paint('bold', 'The answer')}\n${indent(printable(turn.text.trim()))}`);
  say();
  say(paint('dim', `turn:        npx tempoclaw turns show ${turn.id}`));
  if (turn.links.temporal) say(paint('dim', `in Temporal: ${turn.links.temporal}`));
}

function meaningOf(call: CrashProof['calls'][number]): string {
  if (call.code === 'OutcomeUnknown') return 'began, its worker died: never run again, the model is told so';
  if (call.state === 'done' && call.ok) return 'done and recorded: its result was read back, not made again';
  if (call.state === 'done') return `ended as ${oneLine(call.code ?? 'failed', 40)}`;
  return 'not finished';
}

/** Pairs [whether it holds, the claim]. */
function claims(proof: CrashProof): [boolean, string][] {
  const { turn, calls, killedWorker, newWorker, linesWritten } = proof;
  const taken =
    turn.started_at && turn.ended_at
      ? ` in ${durationWords(Date.parse(turn.ended_at) - Date.parse(turn.started_at))}`
      : '';
  const survivor = newWorker === null ? 'another worker' : `worker ${newWorker}`;
  const list: [boolean, string][] = [
    killedWorker === null
      ? [false, `the turn ended (${turn.status}) before the worker could be killed: nothing is proved`]
      : [
          turn.status === 'completed',
          `the turn is ${turn.status}${taken}: ${survivor} went on where worker ${killedWorker} was killed`,
        ],
  ];
  if (linesWritten !== null)
    list.push([
      linesWritten === 1,
      `${proof.file} has ${linesWritten} line${linesWritten === 1 ? '' : 's'}: write_file ran ${linesWritten === 1 ? 'once' : `${linesWritten} times`}`,
    ]);
  const exec = calls.filter((call) => call.tool === 'exec');
  if (killedWorker !== null)
    list.push([
      exec.length === 1 && exec[0]?.code === 'OutcomeUnknown',
      exec.length === 1
        ? `exec was asked for once and ended as ${outcomeOf(exec[0] as ToolCall)}: a command is not repeated blindly`
        : `exec has ${exec.length} rows`,
    ]);
  return list;
}
