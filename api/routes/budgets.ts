/** Serves budgets from their rows. */
import {
  type BudgetRow,
  changeBudget,
  createBudget,
  deleteBudget,
  findBudget,
  listAccounts,
  listBudgets,
  listBudgetUse,
} from '#store/budgets/budget-store.ts';
import { findTeam } from '#store/teams/team-store.ts';
import { MAX_BUDGETS } from '#domain/budget/budget.ts';
import { Failure, fieldFailure, limitReached } from '#domain/errors.ts';
import { budgets, MAX_ACCOUNTS } from '#domain/resource/budgets.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { requireAgents } from '../require-agents.ts';
import { serveResource } from '../serve-resource.ts';

export function addRoutes(app: Api, { settings }: ApiDeps): void {
  serveResource(app, budgets, {
    listBudgets: async ({ db, caller }) => ({
      data: (await listBudgets(db, caller.confinedTo)).map(showBudget),
    }),
    async getBudget({ db, caller, params }) {
      const row = await findBudget(db, params.id, caller.confinedTo);
      return row && showBudget(row);
    },
    listBudgetAccounts: async ({ db, caller, query }) => ({
      data: await listAccounts(db, query, caller.confinedTo, MAX_ACCOUNTS),
    }),
    listBudgetUse: async ({ db, caller }) => ({
      data: await listBudgetUse(db, settings.budgets, caller.confinedTo, MAX_ACCOUNTS),
    }),
    async createBudget({ db, by, body }) {
      if (body.scope === 'agent') await requireAgents(db, [['body/subject', body.subject]]);
      if (body.scope === 'team' && body.subject && !(await findTeam(db, body.subject)))
        throw noTeam(body.subject);
      const row = await createBudget(db, body, by);
      if (row === 'full') throw limitReached(MAX_BUDGETS, 'budgets');
      if (row === 'taken')
        throw new Failure(
          'Conflict',
          'There is one of this scope, subject and period: change it with PUT /v1/budgets/{id}',
        );
      return showBudget(row);
    },
    async updateBudget({ db, params: { id }, body }) {
      const old = await findBudget(db, id, null);
      if (!old) return undefined;
      const { scope, subject = '', period = 'total' } = body;
      if (scope !== old.scope || subject !== old.subject || period !== old.period)
        throw new Failure('Unprocessable', 'Scope, subject and period cannot change: make another budget');
      const row = await changeBudget(db, id, body);
      return row && showBudget(row);
    },
    deleteBudget: ({ db, params }) => deleteBudget(db, params.id),
  });
}

function noTeam(key: string): Failure {
  return fieldFailure('Unprocessable', 'body/subject', `there is no team ${key}`);
}

function showBudget({ subject, config, ...row }: BudgetRow) {
  return {
    ...row,
    ...config,
    subject: subject === '' ? undefined : subject,
  };
}
