/** `tempoclaw budgets`: what work may use, and how much of it is used. */
import type { Command } from 'commander';
import { BUDGET_MEASURES, type BudgetMeasure } from '#domain/budget.ts';
import { amountText } from '#domain/budget/ask-for-more.ts';
import { usageError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext, pathOf, withApiOptions } from '#cli/command-context.ts';
import { type Column, printFields, printJson, printTable } from '#cli/output.ts';
import type { Budget, BudgetAccount } from '#cli/wire.ts';

interface AddOptions extends ApiOptions {
  readonly subject?: string;
  readonly period?: string;
  readonly onLimit?: string;
  readonly tokens?: string;
  readonly usd?: string;
  readonly seconds?: string;
  readonly calls?: string;
}

export function register(program: Command): void {
  const budgets = program
    .command('budgets')
    .description('what work may use, and has used: list, show, accounts, add, delete');
  withApiOptions(budgets.command('list', { isDefault: true }).description('the budgets there are')).action(
    list,
  );
  withApiOptions(budgets.command('show').description('one budget and its accounts').argument('<id>')).action(
    show,
  );
  withApiOptions(
    budgets
      .command('accounts')
      .description('what is used of all budgets, those of the settings and of agents too')
      .option('--budget <id>', 'of this budget')
      .option('--subject <name>', 'of this turn, session, agent or team'),
  ).action(listAccounts);
  withApiOptions(
    budgets
      .command('add')
      .description('limit what a turn, session, agent, team or the tenant may use')
      .argument('<scope>', 'turn, session, agent, team or tenant')
      .option('--subject <name>', 'only this session, agent or team; else each for itself')
      .option('--period <period>', 'total, day or month (UTC)')
      .option('--on-limit <what>', 'ask for more, or stop')
      .option('--tokens <number>', 'tokens read and written')
      .option('--usd <amount>', 'US dollars')
      .option('--seconds <number>', 'seconds of model calls and costly tools')
      .option('--calls <number>', 'model calls and calls of costly tools'),
  ).action(add);
  withApiOptions(budgets.command('delete').description('take a budget away').argument('<id>')).action(remove);
}

async function list(options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const budgets = await client.get<{ data: readonly Budget[] }>(pathOf('budgets'));
  if (json) return printJson(out, budgets);
  if (budgets.data.length === 0)
    return out.line('There is no budget but those of the settings and of agents.');
  printTable(
    out,
    [
      { title: 'id', cell: (budget) => budget.id },
      { title: 'for', cell: (budget) => `${budget.scope} ${budget.subject ?? ''}`.trim() },
      { title: 'period', cell: (budget) => budget.period ?? 'total' },
      { title: 'limits', cell: limitsOf, flexible: true },
      { title: 'most used', cell: mostUsed, flexible: true },
    ],
    budgets.data,
  );
}

async function show(id: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const budget = await client.get<Budget>(pathOf('budgets', id));
  if (json) return printJson(out, budget);
  const { accounts, ...fields } = budget;
  printFields(out, { ...fields });
  printTable(out, ACCOUNT, accounts);
}

const ACCOUNT: readonly Column<Omit<BudgetAccount, 'budget'>>[] = [
  { title: 'subject', cell: ({ subject }) => subject || 'the tenant', flexible: true },
  { title: 'since', cell: ({ since }) => since },
  { title: 'used', cell: ({ measure, spent }) => amountText(measure, spent) },
  { title: 'held', cell: ({ measure, reserved }) => amountText(measure, reserved) },
  { title: 'allowed on top', cell: ({ measure, extra }) => amountText(measure, extra) },
];

async function listAccounts(
  options: ApiOptions & { readonly budget?: string; readonly subject?: string },
): Promise<void> {
  const { client, out, json } = createContext(options);
  const { budget, subject } = options;
  const path = pathOf('budgets', 'accounts');
  const accounts = await client.get<{ data: readonly BudgetAccount[] }>(path, { budget, subject });
  if (json) return printJson(out, accounts);
  if (accounts.data.length === 0) return out.line('Nothing counts for a budget yet.');
  printTable(
    out,
    [{ title: 'budget', cell: ({ budget }: BudgetAccount) => budget, flexible: true }, ...ACCOUNT],
    accounts.data,
  );
}

async function add(scope: string, options: AddOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const { subject, period, onLimit } = options;
  const limits = BUDGET_MEASURES.flatMap((measure) => {
    const text = options[measure];
    return text === undefined ? [] : [[measure, readAmount(measure, text)] as const];
  });
  const budget = await client.post<Budget>(pathOf('budgets'), {
    scope,
    ...(subject === undefined ? {} : { subject }),
    ...(period === undefined ? {} : { period }),
    ...(onLimit === undefined ? {} : { on_limit: onLimit }),
    ...Object.fromEntries(limits),
  });
  if (json) printJson(out, budget);
  else out.line(`${budget.id}: ${limitsOf(budget)} for ${subject ?? `each ${scope}`}`);
}

async function remove(id: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  await client.delete(pathOf('budgets', id));
  if (json) printJson(out, { id, deleted: true });
  else out.line(`${id} limits nothing any more`);
}

function readAmount(measure: BudgetMeasure, text: string): number {
  const amount = Number(text);
  if (Number.isFinite(amount) && amount > 0) return amount;
  throw usageError(`--${measure} takes a number above 0.`, `Such as --${measure} 100`);
}

function limitsOf(budget: Budget): string {
  return BUDGET_MEASURES.flatMap((measure) => {
    const limit = budget[measure];
    return limit === undefined ? [] : [amountText(measure, limit)];
  }).join(', ');
}

function mostUsed({ accounts }: Budget): string {
  const [first] = accounts;
  if (!first) return 'nothing';
  return `${amountText(first.measure, first.spent)}${first.subject === '' ? '' : ` by ${first.subject}`}`;
}
