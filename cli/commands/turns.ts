/** Implements `tempoclaw turns`: those of a session, and how one went, with its ledger of tool calls. */
import type { Command } from 'commander';
import { addList } from '#cli/api-commands.ts';
import { type ApiOptions, createContext, pathOf } from '#cli/command-context.ts';
import { indent, printFields, printJson, printTable, printText } from '#cli/output.ts';
import { durationWords, oneLine, printable } from '#cli/text.ts';
import type { Page, ToolCall, Turn } from '#cli/wire.ts';

export function register(turns: Command): void {
  addList<Turn>(turns, {
    help: 'the turns of a session, newest first',
    path: '/v1/sessions/:session/turns',
    columns: [
      { title: 'turn', cell: (turn) => turn.id },
      { title: 'status', cell: (turn) => turn.status },
      { title: 'steps', cell: (turn) => turn.steps },
      { title: 'asked', cell: (turn) => turn.created_at, ago: true },
      {
        title: 'answer',
        cell: ({ text, error }) => oneLine(text ?? error?.message ?? '', 80),
        flexible: true,
      },
    ],
    nothing: 'No turns.',
  });
  turns.command('show <id>').description('one turn and its tool calls').action(show);
}

async function show(id: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const [turn, calls] = await Promise.all([
    client.get<Turn>(pathOf('turns', id)),
    client.get<Page<ToolCall>>(pathOf('turns', id, 'tool-calls'), { limit: 200 }),
  ]);
  if (json) return printJson(out, { ...turn, tool_calls: calls.data });
  const { text, links, usage, error, ...fields } = turn;
  printFields(out, {
    ...fields,
    error: error && `${error.code}: ${error.message}`,
    tokens: `${usage.input_tokens} in (${usage.cached_tokens} cached), ${usage.output_tokens} out`,
    cost: usage.cost_usd === null ? 'not known' : `$${usage.cost_usd}`,
    temporal: links.temporal,
  });
  if (calls.data.length > 0) {
    out.line();
    printTable(
      out,
      [
        { title: 'step', cell: (call) => call.step },
        { title: 'tool', cell: (call) => call.tool },
        {
          title: 'outcome',
          cell: outcomeOf,
          style: (call) => (call.ok === null ? 'dim' : call.ok ? 'green' : 'red'),
        },
        { title: 'time', cell: timeOf },
        { title: 'arguments', cell: (call) => oneLine(JSON.stringify(call.args), 200), flexible: true },
      ],
      calls.data,
    );
  }
  if (text) printText(out, `\n${indent(printable(text))}`);
}

/** What the ledger knows of a call: `ok`, its error code, or its progress. */
export function outcomeOf(call: ToolCall): string {
  if (call.state !== 'done') return call.state;
  return call.ok ? 'ok' : (call.code ?? 'failed');
}

export function timeOf(call: ToolCall): string {
  if (!call.started_at || !call.ended_at) return '';
  return durationWords(Date.parse(call.ended_at) - Date.parse(call.started_at));
}
