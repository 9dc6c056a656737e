/** Work that agents give each other, whichever kind it is: the commands `list`, `show ID` and `stop ID` of each. */
import type { Command } from 'commander';
import {
  type ApiOptions,
  createContext,
  type PageOptions,
  pageQuery,
  pathOf,
  printPage,
  withApiOptions,
} from './command-context.ts';
import { type Column, indent, type Output, printFields, printJson, statusStyle } from './output.ts';
import { agoWords, printable } from './text.ts';
import type { Delegation, Evaluation, Subagent } from './wire.ts';

type Kind = 'subagents' | 'delegations' | 'evaluations';
type Assignment = Subagent | Delegation | Evaluation;

/** For commander's `action`: newest first. `columns` are this kind's own. */
export function listOf<Row extends Assignment>(
  title: string,
  columns: readonly Column<Row>[],
  nothing: string,
) {
  return (
    options: PageOptions & { readonly status?: string },
    path: string,
    query: Readonly<Record<string, string | undefined>>,
  ): Promise<void> => {
    const now = Date.now();
    return printPage<Row>(
      createContext(options),
      path,
      { ...pageQuery(options), ...query, status: options.status },
      [
        { title, cell: (one) => one.id },
        { title: 'status', cell: (one) => one.status, style: (one) => statusStyle(one.status) },
        ...columns,
        { title: 'started', cell: (one) => agoWords(one.created_at, now) },
      ],
      nothing,
    );
  };
}

/** `printMore` has what is no single field, and is left out of the fields by `hidden`. */
export function addShow<Detail extends Assignment>(
  command: Command,
  kind: Kind,
  description: string,
  hidden: readonly (keyof Detail & string)[] = [],
  printMore?: (out: Output, one: Detail) => void,
): void {
  const show = async (id: string, options: ApiOptions): Promise<void> => {
    const { client, out, json } = createContext(options);
    const one = await client.get<Detail>(pathOf(kind, id));
    if (json) return printJson(out, one);
    const usage = 'usage' in one ? one.usage : undefined;
    const result = 'result' in one ? one.result : null;
    const apart = new Set<string>(['usage', 'result', 'error', 'links', ...hidden]);
    printFields(out, {
      ...Object.fromEntries(Object.entries(one).filter(([name]) => !apart.has(name))),
      error: one.error ? `${one.error.code}: ${one.error.message}` : undefined,
      tokens: usage && `${usage.input_tokens} in, ${usage.output_tokens} out`,
      temporal: one.links.temporal,
    });
    printMore?.(out, one);
    if (result) out.line(`\n${indent(printable(result))}`);
  };
  withApiOptions(command.command('show').description(description).argument('<id>')).action(show);
}

/** The API takes the same stop again without harm. */
export function addStop(command: Command, kind: Kind, description: string): void {
  const stop = async (id: string, options: ApiOptions & { readonly reason?: string }): Promise<void> => {
    const { client, out, json } = createContext(options);
    const body = options.reason === undefined ? {} : { reason: options.reason };
    const receipt = await client.post<{ readonly id: string }>(pathOf(kind, id, 'stop'), body);
    if (json) return printJson(out, receipt);
    out.line(`stop was sent to ${receipt.id}`);
  };
  withApiOptions(
    command.command('stop').description(description).argument('<id>').option('--reason <text>', 'why'),
  ).action(stop);
}
