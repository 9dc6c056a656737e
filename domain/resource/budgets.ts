/** Budgets of a tenant (DU-7): what its work may use. Budgets of the settings and of agents are stored there. */
import { z } from 'zod';
import { BUDGET_MEASURES } from '../budget/budget.ts';
import { amountText } from '../budget/ask-for-more.ts';
import {
  budgetAccountSchema,
  budgetFieldsSchema,
  budgetIdSchema,
  budgetSchema,
  budgetUseSchema,
} from '../schema/budget.ts';
import { labelSchema } from '../schema/scalars.ts';
import type { Columns, Flags } from './command.ts';
import { defineResource, operation } from './define-resource.ts';

/** Greatest number of accounts in one answer. */
export const MAX_ACCOUNTS = 200;

type Budget = z.output<typeof budgetSchema>;
type Account = Budget['accounts'][number];

const flags = {
  on_limit: ['--on-limit <what>', 'ask for more, or stop'],
  tokens: ['--tokens <number>', 'tokens read and written'],
  usd: ['--usd <amount>', 'US dollars'],
  seconds: ['--seconds <number>', 'seconds of model calls and costly tools'],
  calls: ['--calls <number>', 'model calls and calls of costly tools'],
} as const satisfies Flags;

export const accountColumns: Columns<Account> = {
  subject: { flexible: ({ subject }) => subject || 'the tenant' },
  since: 'since',
  used: ({ measure, spent }) => amountText(measure, spent),
  held: ({ measure, reserved }) => amountText(measure, reserved),
  'allowed on top': ({ measure, extra }) => amountText(measure, extra),
};

export function limitsLine(budget: Budget): string {
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

export const budgets = defineResource(
  {
    path: '/v1/budgets',
    tag: 'budgets',
    item: budgetSchema,
    key: 'id',
    keySchema: budgetIdSchema,
    isDefinition: true,
    missing: 'There is no budget with this id',
  },
  ({ listAll, show, create, replace, remove }) => ({
    listBudgets: listAll({
      scope: 'read',
      summary: 'List budgets with what their subjects have used',
      command: {
        help: 'the budgets there are',
        columns: {
          id: 'id',
          for: (budget) => `${budget.scope} ${budget.subject ?? ''}`.trim(),
          period: (budget) => budget.period ?? 'total',
          limits: { flexible: limitsOf },
          'most used': { flexible: fullest },
        },
        nothing: 'There is no budget but those of the settings and of agents.',
      },
    }),
    getBudget: show({
      scope: 'read',
      summary: 'Get a budget',
      command: { help: 'one budget and its accounts' },
    }),
    listBudgetAccounts: operation({
      method: 'GET',
      path: '/v1/budgets/accounts',
      scope: 'read',
      summary: 'List what is used of all budgets, those of the settings and of agents too',
      description: `The newest periods first; at most ${MAX_ACCOUNTS}, so name a budget or a subject.`,
      query: z.strictObject({ budget: budgetIdSchema.optional(), subject: labelSchema.optional() }),
      answer: z.object({ data: z.array(budgetAccountSchema) }),
      command: {
        word: 'accounts',
        help: 'what is used of all budgets, those of the settings and of agents too',
        flags: {
          budget: ['--budget <id>', 'of this budget'],
          subject: ['--subject <name>', 'of this turn, session, agent or team'],
        },
        columns: { budget: { flexible: 'budget' }, ...accountColumns },
        nothing: 'Nothing counts for a budget yet.',
      },
    }),
    createBudget: create({
      scope: 'admin',
      summary: 'Limit what a turn, session, agent, team or the tenant may use',
      description: 'From the next model call on; what was used before it was made does not count.',
      body: budgetFieldsSchema,
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'add',
        help: 'limit what a turn, session, agent, team or the tenant may use',
        arguments: ['scope'],
        flags: {
          subject: ['--subject <name>', 'only this session, agent or team; else each for itself'],
          period: ['--period <period>', 'total, day or month (UTC)'],
          ...flags,
        },
        says: limitsLine,
      },
    }),
    updateBudget: replace({
      scope: 'admin',
      summary: 'Change the limits of a budget',
      description:
        'Scope, subject and period stay, since the accounts are theirs; what was used stays counted.',
      body: budgetFieldsSchema,
      refuses: ['Unprocessable'],
      command: {
        word: 'set',
        help: 'change limits, or add one; what is not named stays, as does what was used',
        flags,
        says: limitsLine,
      },
    }),
    deleteBudget: remove({
      scope: 'admin',
      summary: 'Take a budget away',
      gone: 'It limits nothing any more',
      command: {
        word: 'delete',
        help: 'take a budget away',
        says: (id) => `${id} limits nothing any more`,
      },
    }),
  }),
  () => ({
    listBudgetUse: operation({
      method: 'GET',
      path: '/v1/budgets/use',
      scope: 'read',
      summary: 'List how much of each limit is used now, the fullest first',
      description: `Of all budgets, those of the settings and of agents too, in the period that runs; of turns and sessions, those that work just now. At most ${MAX_ACCOUNTS}.`,
      query: z.strictObject({}),
      answer: z.object({ data: z.array(budgetUseSchema) }),
      command: {
        word: 'use',
        help: 'how much of each limit is used now, the fullest first',
        columns: {
          for: ({ scope, subject }) => `${scope} ${subject}`.trim(),
          used: ({ measure, spent }) => amountText(measure, spent),
          held: ({ measure, reserved }) => amountText(measure, reserved),
          of: ({ measure, limit, extra }) => amountText(measure, limit + extra),
          renews: ({ renews_at: at }) => at ?? 'never',
          budget: { flexible: 'budget' },
        },
        nothing: 'Nothing is limited: npx tempoclaw budgets add tenant --usd 20 --period day',
      },
    }),
  }),
);
