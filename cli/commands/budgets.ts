/** `tempoclaw budgets`: what work may use, and how much of it is used. */
import type { Command } from 'commander';
import { BUDGET_MEASURES, type BudgetMeasure } from '#domain/budget.ts';
import { amountText } from '#domain/budget/ask-for-more.ts';
import { budgets as resource } from '#domain/resource/budgets.ts';
import { usageError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext, pathOf, withApiOptions } from '#cli/command-context.ts';
import { type Column, printFields, printJson, printTable } from '#cli/output.ts';
import { addCommands } from '#cli/resource-commands.ts';
import type { Budget, BudgetAccount } from '#cli/wire.ts';

interface LimitOptions extends ApiOptions {
  readonly onLimit?: string;
  readonly tokens?: string;
  readonly usd?: string;
  readonly seconds?: string;
  readonly calls?: string;
}

interface AddOptions extends LimitOptions {
  readonly subject?: string;
  readonly period?: string;
}

export function register(budgets: Command): void {
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
  withLimitOptions(
    budgets
      .command('add')
      .description('limit what a turn, session, agent, team or the tenant may use')
      .argument('<scope>', 'turn, session, agent, team or tenant')
      .option('--subject <name>', 'only this session, agent or team; else each for itself')
      .option('--period <period>', 'total, day or month (UTC)'),
  ).action(add);
  withLimitOptions(
    budgets
      .command('set')
      .description('change limits, or add one; what is not named stays, as does what was used')
      .argument('<id>'),
  ).action(set);
  withApiOptions(
    budgets
      .command('unset')
      .description('take limits away; a budget keeps at least one')
      .argument('<id>')
      .argument('<measures...>', BUDGET_MEASURES.join(', ')),
  ).action(unset);
  addCommands(budgets, resource);
}

function withLimitOptions(command: Command): Command {
  return withApiOptions(
    command
      .option('--on-limit <what>', 'ask for more, or stop')
      .option('--tokens <number>', 'tokens read and written')
      .option('--usd <amount>', 'US dollars')
      .option('--seconds <number>', 'seconds of model calls and costly tools')
      .option('--calls <number>', 'model calls and calls of costly tools'),
  );
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
  const { subject, period } = options;
  const budget = await client.post<Budget>(pathOf('budgets'), {
    scope,
    subject,
    period,
    ...givenLimits(options),
  });
  if (json) printJson(out, budget);
  else out.line(limitsLine(budget));
}

async function set(id: string, options: LimitOptions): Promise<void> {
  const given = givenLimits(options);
  if (Object.keys(given).length === 0)
    throw usageError('Nothing to change is named.', `Such as: tempoclaw budgets set ${id} --usd 5`);
  await change(id, options, (fields) => ({ ...fields, ...given }));
}

async function unset(id: string, measures: readonly string[], options: ApiOptions): Promise<void> {
  const unknown = measures.find((name) => !BUDGET_MEASURES.some((measure) => measure === name));
  if (unknown !== undefined)
    throw usageError(`${unknown} is no limit.`, `One of ${BUDGET_MEASURES.join(', ')}`);
  await change(id, options, (fields, { reserve }) => ({
    ...without(fields, measures),
    ...(reserve === undefined ? {} : { reserve: without(reserve, measures) }),
  }));
}

type Fields = Readonly<Record<string, unknown>>;

/** Of an answer, but not of a request. */
const TOLD = ['id', 'accounts', 'created_by', 'created_at', 'updated_at'];

/** PUT takes the whole: what is there is read first. */
async function change(
  id: string,
  options: ApiOptions,
  changed: (fields: Fields, budget: Budget) => Fields,
): Promise<void> {
  const { client, out, json } = createContext(options);
  const path = pathOf('budgets', id);
  const old = await client.get<Budget>(path);
  const budget = await client.put<Budget>(path, changed(without(old, TOLD), old));
  if (json) printJson(out, budget);
  else out.line(limitsLine(budget));
}

function without(fields: object, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

function givenLimits(options: LimitOptions): Fields {
  const limits = BUDGET_MEASURES.flatMap((measure) => {
    const text = options[measure];
    return text === undefined ? [] : [[measure, readAmount(measure, text)] as const];
  });
  const { onLimit } = options;
  return { ...Object.fromEntries(limits), ...(onLimit === undefined ? {} : { on_limit: onLimit }) };
}

function limitsLine(budget: Budget): string {
  return `${budget.id}: ${limitsOf(budget)} for ${budget.subject ?? `each ${budget.scope}`}`;
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
