/** Commands for work that agents delegate to each other, for each kind of it: `list`, `show ID` and `stop ID`. */
import type { Command } from 'commander';
import { addApiCommand, addList, type List } from './api-commands.ts';
import { type Column, indent, type Output, printFields } from './output.ts';
import { printable } from './text.ts';
import type { Delegation, Evaluation, Subagent } from './wire.ts';

type Assignment = Subagent | Delegation | Evaluation;

interface Words<Row, Detail> {
  readonly kind: 'subagents' | 'delegations' | 'evaluations';
  /** Lists the newest first; `columns` are this kind's own. */
  readonly list: Pick<List<Row>, 'help' | 'path' | 'flags' | 'nothing'> & {
    readonly title: string;
    readonly columns: readonly Column<Row>[];
  };
  readonly show: string;
  /** Fields that are not printed singly; `more` prints them. */
  readonly hidden?: readonly (keyof Detail & string)[];
  more?(out: Output, one: Detail): void;
  readonly stop: string;
}

export function addAssignmentCommands<Row extends Assignment, Detail extends Row = Row>(
  parent: Command,
  { kind, list: { title, columns, ...list }, show, hidden = [], more, stop }: Words<Row, Detail>,
): void {
  addList<Row>(parent, {
    ...list,
    columns: [
      { title, cell: (one) => one.id },
      { title: 'status', cell: (one) => one.status },
      ...columns,
      { title: 'started', cell: (one) => one.created_at, ago: true },
    ],
  });
  const apart = new Set<string>(['usage', 'result', 'error', 'links', ...hidden]);
  addApiCommand(parent, {
    word: 'show',
    help: show,
    path: `/v1/${kind}/:id`,
    print({ out }, one: Detail) {
      const usage = 'usage' in one ? one.usage : undefined;
      printFields(out, {
        ...Object.fromEntries(Object.entries(one).filter(([name]) => !apart.has(name))),
        error: one.error && `${one.error.code}: ${one.error.message}`,
        tokens: usage && `${usage.input_tokens} in, ${usage.output_tokens} out`,
        temporal: one.links.temporal,
      });
      more?.(out, one);
      if ('result' in one && one.result) out.line(`\n${indent(printable(one.result))}`);
    },
  });
  // The API accepts the same stop again without harm.
  addApiCommand(parent, {
    word: 'stop',
    help: stop,
    method: 'POST',
    path: `/v1/${kind}/:id/stop`,
    flags: { reason: { flags: '--reason <text>', help: 'why' } },
    print: ({ out }, { id }: { readonly id: string }) => out.line(`stop was sent to ${id}`),
  });
}
