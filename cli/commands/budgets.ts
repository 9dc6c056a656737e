/** Implements `tempoclaw budgets`: changes some of a budget's limits, of which the API takes all. */
import { Argument, type Command } from 'commander';
import { BUDGET_MEASURES } from '#domain/budget/budget.ts';
import { accountColumns, budgets as resource, limitsLine } from '#domain/resource/budgets.ts';
import { addCommands } from '#cli/api-commands.ts';
import { call } from '#cli/call.ts';
import { usageError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext } from '#cli/command-context.ts';
import { printFields, printJson, printTable } from '#cli/output.ts';
import type { Budget } from '#cli/wire.ts';

const { getBudget, updateBudget } = resource.operations;

export function register(budgets: Command): void {
  addCommands(budgets, resource, {
    getBudget: {
      print({ out }, { accounts, ...fields }) {
        printFields(out, fields);
        printTable(out, accountColumns, accounts);
      },
    },
    updateBudget: {
      async sends({ id, ...flags }: { readonly id: string }, { client }) {
        if (Object.keys(flags).length === 0)
          throw usageError('Nothing to change is named.', `Such as: tempoclaw budgets set ${id} --usd 5`);
        return { ...fieldsOf(await call(client, getBudget, { params: { id } })), ...flags };
      },
    },
  });
  budgets
    .command('unset <id>')
    .description('take limits away; a budget keeps at least one')
    .addArgument(new Argument('<measures...>').choices(BUDGET_MEASURES))
    .action(unset);
}

async function unset(id: string, measures: readonly string[], options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const { reserve, ...old } = fieldsOf(await call(client, getBudget, { params: { id } }));
  const remaining = { ...without(old, measures), reserve: reserve && without(reserve, measures) };
  const budget = await call(client, updateBudget, { params: { id }, body: remaining as never });
  if (json) printJson(out, budget);
  else out.line(limitsLine(budget));
}

/** The fields that a request also has. PUT takes the whole budget, so the current one is read first. */
function fieldsOf(budget: Budget): Omit<Budget, (typeof ANSWERED)[number]> {
  return without(budget, ANSWERED) as Omit<Budget, (typeof ANSWERED)[number]>;
}

const ANSWERED = ['id', 'accounts', 'created_by', 'created_at', 'updated_at'] as const;

function without(fields: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}
