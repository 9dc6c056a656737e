/** Serves rules that past decisions suggest: it finds, backtests and accepts them. */
import type { z } from 'zod';
import { Failure } from '#domain/errors.ts';
import { ruleProposals } from '../resource/rule-proposals.ts';
import { agentConfigSchema } from '#domain/schema/agent.ts';
import { tenantPolicySchema } from '#domain/schema/policy.ts';
import { backtest, type BacktestReport } from '../policy/backtest.ts';
import { findProposals, type PlacedProposal, withRule } from '../policy/proposals.ts';
import { refuseInRollout } from '#domain/rollout.ts';
import { schemaProblem } from '#domain/schema/problem-words.ts';
import { findAgent, updateAgent } from '#store/agent-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { saveTenantPolicy } from '#store/tenant-policy-store.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { serveResource } from '#api/serve-resource.ts';

const DAYS = 30;

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { pool } = deps;
  const basis = { ...deps.policy, ...deps.explain, pool, now: Date.now };
  const find = async ({ tenant }: { readonly tenant: string }, id: string) =>
    (await findProposals(basis, tenant, DAYS)).find((each) => each.id === id);

  serveResource(
    app,
    ruleProposals,
    {
      listRuleProposals: async ({ tenant }) => ({
        data: (await findProposals(basis, tenant, DAYS)).map((each) => showProposal(each)),
      }),
      async getRuleProposal({ tenant, params }) {
        const found = await find({ tenant }, params.id);
        if (!found) return undefined;
        return showProposal(found, await backtest(basis, { ...found.change, tenant, days: DAYS }, 0));
      },
      async takeRuleProposal({ tenant, by, params }) {
        const found = await find({ tenant }, params.id);
        if (!found) return undefined;
        await take(found, tenant, by);
        return showProposal(found);
      },
    },
    find,
  );

  async function take({ place, agent: key, adds, change }: PlacedProposal, tenant: string, by: string) {
    if (place === 'settings')
      throw new Failure(
        'Conflict',
        'The rule that asks stands in the settings: add this one to tools.rules of tempoclaw.yaml',
        { adds },
      );
    if (place === 'tenant')
      return saveTenantPolicy(forTenant(pool, tenant), checked(tenantPolicySchema, change.tenant_policy), by);
    const agent = await findAgent(forTenant(pool, tenant), key);
    if (!agent) throw new Failure('Conflict', `The agent ${key} is gone`);
    refuseInRollout(agent);
    const config = checked(agentConfigSchema, { ...agent.config, ...withRule(agent.config, adds) });
    if (!(await updateAgent(forTenant(pool, tenant), agent.revision, config, by)))
      throw new Failure('Conflict', 'The agent was changed at the same moment; look again');
  }
}

/** Checks limits of lists. @throws Failure Unprocessable */
function checked<Output>(schema: z.ZodType<Output>, value: unknown): Output {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw new Failure('Unprocessable', `It cannot be added: ${schemaProblem(read.error, 'the rule')}`);
}

function showProposal({ id, agent, tool, adds, place, calls }: PlacedProposal, report?: BacktestReport) {
  const examples = [...new Set(calls.map(({ summary }) => summary))].slice(0, 5);
  return { id, agent, tool, adds, place, approvals: calls.length, examples, backtest: report };
}
