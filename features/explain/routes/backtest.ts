/** Serves backtests: what other rules would have decided on recorded calls. */
import type { Api, ApiDeps } from '#api/deps.ts';
import { serveResource } from '#api/serve-resource.ts';
import { readPage } from '#api/server/pages.ts';
import { oneAtATime } from '#domain/async/one-at-a-time.ts';
import { Failure } from '#domain/errors.ts';
import { backtest, type BacktestReport, type Differing } from '../policy/backtest.ts';
import { backtests } from '../resource/backtest.ts';

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
        ([at, id]) => typeof at === 'string' && /^\d{1,18}$/.test(at) && typeof id === 'string',
        showDiffering,
      );
      if (!report) throw new Failure('Internal', 'the backtest gave no report');
      return { ...report, ...page };
    },
  });
}

function showDiffering({ call, now }: Differing) {
  return {
    ...call,
    ...now,
    call_id: call.id,
    agent: call.agent_key,
    user: call.context.user,
    before: call.verdict,
    after: now.verdict,
    reason: now.verdict === 'allow' ? null : now.reason,
  };
}
