/** Serves backtests: what other rules would have decided on recorded calls. */
import type { z } from 'zod';
import type { Api, ApiDeps } from '#api/deps.ts';
import { serveResource } from '#api/serve-resource.ts';
import { readPage } from '#api/server/pages.ts';
import { oneAtATime } from '#domain/async/one-at-a-time.ts';
import { Failure } from '#domain/errors.ts';
import { backtest, type BacktestReport, type Differing } from '../policy/backtest.ts';
import { backtests } from '../resource/backtest.ts';
import type { backtestReportSchema } from '../schema/backtest.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  const basis = { ...deps.policy, ...deps.explain, pool: deps.pool, now: Date.now };
  // Backtests run one at a time, because each keeps a connection while it reads.
  const inTurn = oneAtATime();

  serveResource(app, backtests, {
    async backtestPolicy({ tenant, body }) {
      const { limit, after, days, settings, tenant: tenant_policy, agents } = body;
      const question = { tenant, days, settings, agents, tenant_policy };
      let report: BacktestReport | undefined;
      const page = await readPage(
        { limit, after },
        async (required, cursor) => {
          const from = cursor && { at: String(cursor[0]), id: String(cursor[1]) };
          report = await inTurn(() => backtest(basis, question, required, from));
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
