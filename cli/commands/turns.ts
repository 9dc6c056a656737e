/** Implements `tempoclaw turns`: those of a session, and how one went, with its ledger of tool calls. */
import type { Command } from 'commander';
import { sessions } from '#domain/resource/sessions.ts';
import { turns as resource } from '#domain/resource/turns.ts';
import { addCommand } from '#cli/api-commands.ts';
import { call } from '#cli/call.ts';
import { type ApiOptions, createContext } from '#cli/command-context.ts';
import { indent } from '#domain/resource/command.ts';
import { printFields, printJson, printTable, printText } from '#cli/output.ts';
import { durationWords, oneLine, printable } from '#cli/text.ts';
import type { ToolCall } from '#cli/wire.ts';

export function register(turns: Command): void {
  addCommand(turns, sessions, 'listSessionTurns');
  for (const id of ['listTurnSteps', 'getTurnStep', 'compareTurns'] as const) addCommand(turns, resource, id);
  turns.command('show <id>').description('one turn and its tool calls').action(show);
}

async function show(id: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const { getTurn, listTurnToolCalls } = resource.operations;
  const [turn, calls] = await Promise.all([
    call(client, getTurn, { params: { id } }),
    call(client, listTurnToolCalls, { params: { id }, query: { limit: 200 } }),
  ]);
  if (json) return printJson(out, { ...turn, tool_calls: calls.data });
  const { text, links, usage, error, ran_with: ran, ...fields } = turn;
  printFields(out, {
    ...fields,
    policy: ran?.policy,
    tools: ran?.tools === undefined ? undefined : `version ${ran.tools}`,
    error: error && `${error.code}: ${error.message}`,
    tokens: `${usage.input_tokens} in (${usage.cached_tokens} cached), ${usage.output_tokens} out`,
    cost: usage.cost_usd === null ? 'not known' : `$${usage.cost_usd}`,
    temporal: links.temporal,
  });
  if (calls.data.length > 0) {
    out.line();
    printTable(
      out,
      {
        step: 'step',
        tool: 'tool',
        outcome: { cell: outcomeOf, style: (call) => (call.ok === null ? 'dim' : call.ok ? 'green' : 'red') },
        time: timeOf,
        arguments: { flexible: (call) => oneLine(JSON.stringify(call.args), 200) },
      },
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

/** Empty for a call that only reads: it is not claimed, and nobody records when it began. */
export function timeOf({
  started_at: from,
  ended_at: to,
}: Pick<ToolCall, 'started_at' | 'ended_at'>): string {
  if (!from || !to || from === to) return '';
  return durationWords(Date.parse(to) - Date.parse(from));
}
