/** Budgets of the caller's tenant (DU-7): what its work may use. Those of the settings and of agents stand there. */
import { z } from 'zod';
import {
  type BudgetRow,
  changeBudget,
  createBudget,
  deleteBudget,
  findBudget,
  listAccounts,
  listBudgets,
} from '#store/budget-store.ts';
import { MAX_BUDGETS } from '#domain/budget.ts';
import { Failure } from '#domain/errors.ts';
import {
  budgetAccountSchema,
  budgetFieldsSchema,
  budgetIdSchema,
  budgetSchema,
} from '#domain/schema/budget.ts';
import { labelSchema } from '#domain/schema/scalars.ts';
import { callerOf, signatureOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { problems } from '../openapi.ts';

const idParams = z.object({ id: budgetIdSchema });

const MOST_ACCOUNTS = 200;

export function addBudgetRoutes(app: Api, deps: ApiDeps): void {
  addReads(app, deps);
  addAccounts(app, deps);
  addCreate(app, deps);
  addPut(app, deps);
  addDelete(app, deps);
}

function addReads(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/budgets',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['budgets'],
        operationId: 'listBudgets',
        summary: 'List budgets with what their subjects have used',
        response: { 200: z.object({ data: z.array(budgetSchema) }), ...problems() },
      },
    },
    async (request) => {
      const { tenant, confinedTo } = callerOf(request);
      return { data: (await listBudgets(deps.pool, tenant, confinedTo)).map(showBudget) };
    },
  );

  app.get(
    '/v1/budgets/:id',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['budgets'],
        operationId: 'getBudget',
        summary: 'Get a budget',
        params: idParams,
        response: { 200: budgetSchema, ...problems('NotFound') },
      },
    },
    async (request) => {
      const { tenant, confinedTo } = callerOf(request);
      return found(await findBudget(deps.pool, tenant, request.params.id, confinedTo));
    },
  );
}

function addAccounts(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/budgets/accounts',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['budgets'],
        operationId: 'listBudgetAccounts',
        summary: 'List what is used of all budgets, those of the settings and of agents too',
        description: `The newest periods first; at most ${MOST_ACCOUNTS}, so name a budget or a subject.`,
        querystring: z.strictObject({ budget: budgetIdSchema.optional(), subject: labelSchema.optional() }),
        response: { 200: z.object({ data: z.array(budgetAccountSchema) }), ...problems() },
      },
    },
    async (request) => {
      const { tenant, confinedTo } = callerOf(request);
      return { data: await listAccounts(deps.pool, tenant, request.query, confinedTo, MOST_ACCOUNTS) };
    },
  );
}

function addCreate(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/budgets',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['budgets'],
        operationId: 'createBudget',
        summary: 'Limit what a turn, session, agent, team or the tenant may use',
        description: 'From the next model call on; what was used before it was made does not count.',
        body: budgetFieldsSchema,
        response: { 201: budgetSchema, ...problems('Conflict') },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const row = await createBudget(deps.pool, caller.tenant, request.body, signatureOf(caller));
      if (!row)
        throw new Failure(
          'Conflict',
          `There is one of this scope, subject and period, or there are ${MAX_BUDGETS}: change it with PUT /v1/budgets/{id}`,
        );
      return reply.code(201).send(showBudget(row));
    },
  );
}

function addPut(app: Api, deps: ApiDeps): void {
  app.put(
    '/v1/budgets/:id',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['budgets'],
        operationId: 'updateBudget',
        summary: 'Change the limits of a budget',
        description:
          'Scope, subject and period stay, since the accounts are theirs; what was used stays counted.',
        params: idParams,
        body: budgetFieldsSchema,
        response: { 200: budgetSchema, ...problems('NotFound', 'Unprocessable') },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      const { id } = request.params;
      const old = await findBudget(deps.pool, tenant, id, null);
      if (!old) throw notFound();
      const { scope, subject = '', period = 'total' } = request.body;
      if (scope !== old.scope || subject !== old.subject || period !== old.period)
        throw new Failure('Unprocessable', 'Scope, subject and period cannot change: make another budget');
      return found(await changeBudget(deps.pool, tenant, id, request.body));
    },
  );
}

function addDelete(app: Api, deps: ApiDeps): void {
  app.delete(
    '/v1/budgets/:id',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['budgets'],
        operationId: 'deleteBudget',
        summary: 'Take a budget away',
        params: idParams,
        response: {
          204: z.null().meta({ description: 'It limits nothing any more' }),
          ...problems('NotFound'),
        },
      },
    },
    async (request, reply) => {
      if (!(await deleteBudget(deps.pool, callerOf(request).tenant, request.params.id))) throw notFound();
      return reply.code(204).send(null);
    },
  );
}

function found(row: BudgetRow | undefined): z.infer<typeof budgetSchema> {
  if (!row) throw notFound();
  return showBudget(row);
}

function notFound(): Failure {
  return new Failure('NotFound', 'There is no budget with this id');
}

function showBudget(row: BudgetRow): z.infer<typeof budgetSchema> {
  const { id, scope, subject, period, config, accounts, created_by } = row;
  return {
    id,
    scope,
    subject: subject === '' ? undefined : subject,
    period,
    ...config,
    accounts: accounts.map((account) => ({ ...account })),
    created_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
