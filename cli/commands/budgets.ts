/** Implements `tempoclaw budgets`: what work may use, and how much of it is used. */
import { Argument, type Command } from 'commander';
import { BUDGET_MEASURES } from '#domain/budget.ts';
import { amountText } from '#domain/budget/ask-for-more.ts';
import { budgets as resource } from '#domain/resource/budgets.ts';
import { addApiCommand, addList, type Flags, without } from '#cli/api-commands.ts';
import { call } from '#cli/call.ts';
import { usageError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext } from '#cli/command-context.ts';
import { type Column, printFields, printJson, printTable } from '#cli/output.ts';
import { addCommands } from '#cli/resource-commands.ts';
import type { Budget, BudgetAccount } from '#cli/wire.ts';

const { getBudget, updateBudget } = resource.operations;

const LIMIT_FLAGS = {
  on_limit: { flags: '--on-limit <what>', help: 'ask for more, or stop' },
  tokens: { flags: '--tokens <number>', help: 'tokens read and written', kind: 'number' },
  usd: { flags: '--usd <amount>', help: 'US dollars', kind: 'number' },
  seconds: { flags: '--seconds <number>', help: 'seconds of model calls and costly tools', kind: 'number' },
  calls: { flags: '--calls <number>', help: 'model calls and calls of costly tools', kind: 'number' },
} as const satisfies Flags;

const ACCOUNT: readonly Column<Omit<BudgetAccount, 'budget'>>[] = [
  { title: 'subject', cell: ({ subject }) => subject || 'the tenant', flexible: true },
  { title: 'since', cell: ({ since }) => since },
  { title: 'used', cell: ({ measure, spent }) => amountText(measure, spent) },
  { title: 'held', cell: ({ measure, reserved }) => amountText(measure, reserved) },
  { title: 'allowed on top', cell: ({ measure, extra }) => amountText(measure, extra) },
];

export function register(budgets: Command): void {
  addList<Budget>(budgets, {
    help: 'the budgets there are',
    path: '/v1/budgets',
    isWhole: true,
    columns: [
      { title: 'id', cell: (budget) => budget.id },
      { title: 'for', cell: (budget) => `${budget.scope} ${budget.subject ?? ''}`.trim() },
      { title: 'period', cell: (budget) => budget.period ?? 'total' },
      { title: 'limits', cell: limitsOf, flexible: true },
      { title: 'most used', cell: fullest, flexible: true },
    ],
    nothing: 'There is no budget but those of the settings and of agents.',
  });
  addApiCommand(budgets, {
    word: 'show',
    help: 'one budget and its accounts',
    path: '/v1/budgets/:id',
    print({ out }, { accounts, ...fields }: Budget) {
      printFields(out, fields);
      printTable(out, ACCOUNT, accounts);
    },
  });
  addList<BudgetAccount>(budgets, {
    word: 'accounts',
    help: 'what is used of all budgets, those of the settings and of agents too',
    path: '/v1/budgets/accounts',
    isWhole: true,
    flags: {
      budget: { flags: '--budget <id>', help: 'of this budget' },
      subject: { flags: '--subject <name>', help: 'of this turn, session, agent or team' },
    },
    columns: [{ title: 'budget', cell: ({ budget }) => budget, flexible: true }, ...ACCOUNT],
    nothing: 'Nothing counts for a budget yet.',
  });
  addChanges(budgets);
  addCommands(budgets, resource);
}

function addChanges(budgets: Command): void {
  addApiCommand(budgets, {
    word: 'add',
    help: 'limit what a turn, session, agent, team or the tenant may use',
    method: 'POST',
    path: '/v1/budgets',
    arguments: ['scope'],
    flags: {
      subject: { flags: '--subject <name>', help: 'only this session, agent or team; else each for itself' },
      period: { flags: '--period <period>', help: 'total, day or month (UTC)' },
      ...LIMIT_FLAGS,
    },
    print: ({ out }, budget: Budget) => out.line(limitsLine(budget)),
  });
  addApiCommand(budgets, {
    word: 'set',
    help: 'change limits, or add one; what is not named stays, as does what was used',
    method: 'PUT',
    path: '/v1/budgets/:id',
    flags: LIMIT_FLAGS,
    async sends({ id, ...flags }, { client }) {
      if (Object.keys(flags).length === 0)
        throw usageError('Nothing to change is named.', `Such as: tempoclaw budgets set ${id} --usd 5`);
      return { ...fieldsOf(await call(client, getBudget, { params: { id } })), ...flags };
    },
    print: ({ out }, budget: Budget) => out.line(limitsLine(budget)),
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

function limitsLine(budget: Budget): string {
  return `${budget.id}: ${limitsOf(budget)} for ${budget.subject ?? `each ${budget.scope}`}`;
}

function limitsOf(budget: Budget): string {
  return BUDGET_MEASURES.flatMap((measure) => {
    const limit = budget[measure];
    return limit === undefined ? [] : [amountText(measure, limit)];
  }).join(', ');
}

function fullest({ accounts }: Budget): string {
  const [first] = accounts;
  if (!first) return 'nothing';
  return `${amountText(first.measure, first.spent)}${first.subject === '' ? '' : ` by ${first.subject}`}`;
}
