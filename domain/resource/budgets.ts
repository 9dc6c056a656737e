/** Budgets of a tenant (DU-7): what its work may use. Budgets of the settings and of agents are stored there. */
import { z } from 'zod';
import { budgetAccountSchema, budgetFieldsSchema, budgetIdSchema, budgetSchema } from '../schema/budget.ts';
import { labelSchema } from '../schema/scalars.ts';
import { defineResource, operation } from './define-resource.ts';

/** Greatest number of accounts in one answer. */
export const MAX_ACCOUNTS = 200;

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
    listBudgets: listAll({ scope: 'read', summary: 'List budgets with what their subjects have used' }),
    getBudget: show({ scope: 'read', summary: 'Get a budget' }),
    listBudgetAccounts: operation({
      method: 'GET',
      path: '/v1/budgets/accounts',
      scope: 'read',
      summary: 'List what is used of all budgets, those of the settings and of agents too',
      description: `The newest periods first; at most ${MAX_ACCOUNTS}, so name a budget or a subject.`,
      query: z.strictObject({ budget: budgetIdSchema.optional(), subject: labelSchema.optional() }),
      answer: z.object({ data: z.array(budgetAccountSchema) }),
    }),
    createBudget: create({
      scope: 'admin',
      summary: 'Limit what a turn, session, agent, team or the tenant may use',
      description: 'From the next model call on; what was used before it was made does not count.',
      body: budgetFieldsSchema,
      refuses: ['Conflict', 'Unprocessable'],
    }),
    updateBudget: replace({
      scope: 'admin',
      summary: 'Change the limits of a budget',
      description:
        'Scope, subject and period stay, since the accounts are theirs; what was used stays counted.',
      body: budgetFieldsSchema,
      refuses: ['Unprocessable'],
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
);
