/** What holds for all agents of a tenant, between the settings and the agent (PO-1), and trying other rules (PO-4). */
import { z } from 'zod';
import { backtest, type BacktestReport, type Differing } from '#activities/explain/backtest.ts';
import { findTenantPolicy, saveTenantPolicy } from '#activities/store/tenant-policy-store.ts';
import { Failure } from '#domain/errors.ts';
import { policyWarnings } from '#domain/policy/check-policy.ts';
import {
  backtestReportSchema,
  backtestSchema,
  shownTenantPolicySchema,
  tenantPolicySchema,
} from '#domain/schema/policy.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import { callerOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { problems } from '../openapi.ts';
import { readPage } from '../pages.ts';

export function addPolicyRoutes(app: Api, deps: ApiDeps): void {
  addBacktest(app, deps);
  app.get(
    '/v1/policy',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['policy'],
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
        summary: "Replace the tenant's policy",
        description: 'Holds for every call that is judged from now on, also in turns that run.',
        body: tenantPolicySchema,
        response: { 200: shownTenantPolicySchema, ...problems() },
      },
    },
    async (request) => {
      await saveTenantPolicy(deps.pool, callerOf(request).tenant, request.body);
      return showPolicy(request.body);
    },
  );
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
