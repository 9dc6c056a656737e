/** Serves the tenant's policy, and tries other rules. */
import { z } from 'zod';
import { backtest, type BacktestReport, type Differing } from '#policy/explain/backtest.ts';
import {
  findPolicyChange,
  findTenantPolicy,
  listPolicyChanges,
  type PolicyChange,
  saveTenantPolicy,
} from '#store/tenant-policy-store.ts';
import { oneAtATime } from '#domain/async/one-at-a-time.ts';
import { Failure } from '#domain/errors.ts';
import { policy as resource } from '#domain/resource/policy.ts';
import {
  type backtestReportSchema,
  policyChangeIdSchema,
  type policyChangeSchema,
  type shownTenantPolicySchema,
  tenantPolicySchema,
} from '#domain/schema/policy.ts';
import { schemaProblem } from '#domain/schema/problem-words.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { readPage } from '../server/pages.ts';
import { warningsOf } from '../policy-warnings.ts';
import { serveResource } from '../serve-resource.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { pool } = deps;
  // Backtests run one at a time, because each keeps a connection while it reads.
  const inTurn = oneAtATime();

  serveResource(app, resource, {
    getPolicy: async ({ tenant, db }) => showPolicy(deps, tenant, (await findTenantPolicy(db)) ?? {}),
    async setPolicy({ tenant, db, by, body }) {
      await saveTenantPolicy(db, body, by);
      return showPolicy(deps, tenant, body);
    },
    listPolicyChanges: ({ db, query }) =>
      readPage(
        query,
        (limit, after) => listPolicyChanges(db, limit, after && String(after[0])),
        ({ id }) => [id],
        showChange,
        ([id, ...more]) => more.length === 0 && policyChangeIdSchema.safeParse(id).success,
      ),
    async restorePolicy({ tenant, db, by, body }) {
      const change = await findPolicyChange(db, body.change);
      if (!change) return undefined;
      const before = tenantPolicySchema.safeParse(change.before ?? {});
      if (!before.success)
        throw new Failure(
          'Unprocessable',
          `The policy of then cannot be put back: ${schemaProblem(before.error, 'policy')}`,
        );
      await saveTenantPolicy(db, before.data, by);
      return showPolicy(deps, tenant, before.data);
    },
    async backtestPolicy({ tenant, body }) {
      const { limit, after, days, settings, tenant: tenant_policy, agents } = body;
      const question = { tenant, days, settings, agents, tenant_policy };
      let report: BacktestReport | undefined;
      const page = await readPage(
        { limit, after },
        async (required, cursor) => {
          const from = cursor && { at: String(cursor[0]), id: String(cursor[1]) };
          report = await inTurn(() =>
            backtest({ ...deps.policy, pool, now: Date.now }, question, required, from),
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
  });
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

async function showPolicy(
  deps: ApiDeps,
  tenant: string,
  policy: TenantPolicy,
): Promise<z.infer<typeof shownTenantPolicySchema>> {
  const warnings = [
    ...(await warningsOf(deps, tenant, policy.tools)),
    ...(await warningsOf(deps, tenant, deps.policy.settings.tools)).map(
      (warning) => `in the settings, ${warning}`,
    ),
  ];
  // Rows were checked when they were written.
  return { ...(policy as Omit<z.infer<typeof shownTenantPolicySchema>, 'warnings'>), warnings };
}
