/** What holds for all agents of a tenant, between the settings and the agent (PO-1), and trying other rules (PO-4). */
import { z } from 'zod';
import { backtest, type BacktestReport, type Differing } from '#policy/explain/backtest.ts';
import {
  findPolicyChange,
  findTenantPolicy,
  listPolicyChanges,
  type PolicyChange,
  saveTenantPolicy,
} from '#store/tenant-policy-store.ts';
import { Failure } from '#domain/errors.ts';
import { policyWarnings } from '#domain/policy/check-policy.ts';
import {
  backtestReportSchema,
  backtestSchema,
  policyChangeIdSchema,
  policyChangeSchema,
  shownTenantPolicySchema,
  tenantPolicySchema,
} from '#domain/schema/policy.ts';
import { pageQuery, pageSchema } from '#domain/schema/scalars.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import { callerOf, signatureOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { problems } from '../openapi.ts';
import { readPage } from '../pages.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  addBacktest(app, deps);
  addHistory(app, deps);
  app.get(
    '/v1/policy',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['policy'],
        operationId: 'getPolicy',
        summary: "Get the tenant's policy",
        querystring: z.strictObject({}),
        response: { 200: shownTenantPolicySchema, ...problems() },
      },
    },
    async (request) => showPolicy((await findTenantPolicy(deps.pool, callerOf(request).tenant)) ?? {}),
  );

  app.put(
    '/v1/policy',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['policy'],
        operationId: 'setPolicy',
        summary: "Replace the tenant's policy",
        description: 'Holds for every call that is judged from now on, also in turns that run.',
        body: tenantPolicySchema,
        response: { 200: shownTenantPolicySchema, ...problems() },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      await saveTenantPolicy(deps.pool, caller.tenant, request.body, signatureOf(caller));
      return showPolicy(request.body);
    },
  );
}

function addHistory(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/policy/history',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['policy'],
        operationId: 'listPolicyChanges',
        summary: "List changes of the tenant's policy",
        description: 'Who changed it when, and from what to what; newest first.',
        querystring: z.strictObject(pageQuery),
        response: { 200: pageSchema(policyChangeSchema), ...problems() },
      },
    },
    async (request) =>
      readPage(
        request.query,
        (limit, after) =>
          listPolicyChanges(deps.pool, callerOf(request).tenant, limit, after && String(after[0])),
        ({ id }) => [id],
        showChange,
        ([id, ...more]) => more.length === 0 && policyChangeIdSchema.safeParse(id).success,
      ),
  );

  app.post(
    '/v1/policy/restore',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['policy'],
        operationId: 'restorePolicy',
        summary: "Put the tenant's policy back as it was before a change",
        description: 'What was changed after that is gone, too; this is a change of its own.',
        body: z.strictObject({ change: policyChangeIdSchema }).meta({ examples: [{ change: '12' }] }),
        response: { 200: shownTenantPolicySchema, ...problems('NotFound', 'Unprocessable') },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const change = await findPolicyChange(deps.pool, caller.tenant, request.body.change);
      if (!change) throw new Failure('NotFound', 'There is no change of the policy with this id');
      const before = tenantPolicySchema.safeParse(change.before ?? {});
      if (!before.success)
        throw new Failure(
          'Unprocessable',
          `The policy of then cannot be put back: ${z.prettifyError(before.error).replaceAll('\n', ' ').slice(0, 500)}`,
        );
      await saveTenantPolicy(deps.pool, caller.tenant, before.data, signatureOf(caller));
      return showPolicy(before.data);
    },
  );
}

function showChange(change: PolicyChange): z.infer<typeof policyChangeSchema> {
  return {
    id: change.id,
    from: { ...change.before },
    to: { ...change.after },
    changed_by: change.changed_by,
    changed_at: change.changed_at.toISOString(),
  };
}

function addBacktest(app: Api, deps: ApiDeps): void {
  // One at a time: each keeps a connection while it reads.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const mine = last.then(work, work);
    last = mine.catch(() => undefined);
    return mine;
  };

  app.post(
    '/v1/policy/backtest',
    {
      config: { scope: 'admin', repeatable: true },
      schema: {
        tags: ['policy'],
        operationId: 'backtestPolicy',
        summary: 'Try rules on the calls of the last days',
        description:
          'How many would be allowed, asked about and denied, and which would not be judged as they were. Nothing is run. The newest 20,000 calls are looked at.',
        body: backtestSchema,
        response: { 200: backtestReportSchema, ...problems() },
      },
    },
    async (request) => {
      const { limit, after, days, settings, tenant, agents } = request.body;
      const question = { tenant: callerOf(request).tenant, days, settings, agents, tenant_policy: tenant };
      let report: BacktestReport | undefined;
      const page = await readPage(
        { limit, after },
        async (wanted, cursor) => {
          const from = cursor && { at: String(cursor[0]), id: String(cursor[1]) };
          report = await inTurn(() =>
            backtest({ ...deps.policy, pool: deps.pool, now: Date.now }, question, wanted, from),
          );
          return report.differing;
        },
        ({ call }) => [call.at, call.id],
        showDiffering,
        ([at, id]) => typeof at === 'string' && /^\d{1,18}$/.test(at) && typeof id === 'string',
      );
      if (!report) throw new Failure('Internal', 'the backtest gave no report');
      const { differing: _differing, since, ...rest } = report;
      return { ...page, ...rest, since: since.toISOString() };
    },
  );
}

function showDiffering({ call, now }: Differing): z.infer<typeof backtestReportSchema>['data'][number] {
  return {
    call_id: call.id,
    session_key: call.session_key,
    turn_id: call.turn_id,
    agent: call.agent_key,
    user: call.context.user ?? null,
    tool: call.tool,
    summary: call.summary,
    created_at: call.created_at.toISOString(),
    before: call.verdict,
    after: now.verdict,
    step: now.step,
    rule: now.rule,
    reason: now.verdict === 'allow' ? null : now.reason,
    masked: call.masked,
  };
}

function showPolicy(policy: TenantPolicy): z.infer<typeof shownTenantPolicySchema> {
  const warnings = policyWarnings(policy.tools ?? {}).map(
    ({ path, message }) => `tools.${path.join('.')}: ${message}`,
  );
  // Rows were checked when they were written.
  return { ...(policy as Omit<z.infer<typeof shownTenantPolicySchema>, 'warnings'>), warnings };
}
