/** AP-7: which rules the decisions of the last days suggest, where each would be added, and what it would change. */
import { createHash } from 'node:crypto';
import type { AgentConfig } from '#domain/agent.ts';
import { proposeRules, type Proposal, type ProposedRule } from '../rules/propose-rules.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import { type DecidedPastCall, readDecidedCalls, readRulesOfTenant } from '../store/past-calls-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findTenantPolicy } from '#store/tenant-policy-store.ts';
import type { Verdict } from '#policy/call-rules.ts';
import { type BacktestDeps, type BacktestQuestion, createJudge } from './backtest.ts';

/** Where the rule would be added: the innermost place that covers the calls. */
export type ProposalPlace = 'agent' | 'tenant' | 'settings';

export interface PlacedProposal extends Proposal<DecidedPastCall> {
  /** Derived from the rule and its place, so that equal proposals have equal ids. */
  readonly id: string;
  readonly place: ProposalPlace;
  /** The rules after the change. */
  readonly change: Change;
}

type Change = Omit<BacktestQuestion, 'days' | 'tenant'>;

/** Greatest number of decisions checked of each kind, newest first. */
const MAX_DECISIONS = 2_000;
/** Each is judged at up to three places. */
const MAX_PROPOSALS = 20;

/** Calls that were permanently allowed since, or are judged differently now, suggest nothing. Reads only. */
export async function findProposals(
  deps: BacktestDeps,
  tenant: string,
  days: number,
): Promise<PlacedProposal[]> {
  const db = forTenant(deps.pool, tenant);
  const since = new Date(deps.now() - days * 86_400_000);
  const decided = await readDecidedCalls(db, since, MAX_DECISIONS);
  const judgeNow = await createJudge(deps, { tenant });
  const basis: DecidedPastCall[] = [];
  const rejected: DecidedPastCall[] = [];
  for (const call of decided) {
    const now = await judgeNow(call);
    if (!call.approved || (!call.masked && isApprovalRequired(now))) basis.push(call);
    if (!call.approved && now?.verdict !== 'allow') rejected.push(call);
  }
  const { agents } = await readRulesOfTenant(db);
  const policy = (await findTenantPolicy(db)) ?? {};
  const found: PlacedProposal[] = [];
  for (const proposal of proposeRules(basis.map((call) => ({ ...call, agent: call.agent_key })))) {
    if (found.length >= MAX_PROPOSALS) break;
    const agent = agents.get(proposal.agent);
    for (const [place, change] of agent ? placesFor(deps, proposal, agent, policy) : []) {
      const judge = await createJudge(deps, { ...change, tenant });
      const verdicts = async (calls: readonly DecidedPastCall[]) =>
        Promise.all(calls.map(async (call) => (await judge(call))?.verdict));
      if ((await verdicts(proposal.calls)).some((verdict) => verdict !== 'allow')) continue;
      if (!(await verdicts(rejected)).includes('allow'))
        found.push({ ...proposal, place, change, id: idOf(proposal, place) });
      break;
    }
  }
  return found;
}

/**
 * True when the present rules ask anybody who may approve. Rules with named approvers, a quorum or an excluded
 * requester must stay.
 */
function isApprovalRequired(now: Verdict | undefined): boolean {
  if (now?.verdict !== 'ask') return false;
  const { approvers, quorum, exclude_requester } = now.terms ?? {};
  return approvers === undefined && quorum === undefined && exclude_requester === undefined;
}

function idOf({ agent, adds }: Proposal<unknown>, place: ProposalPlace): string {
  return createHash('sha256')
    .update(JSON.stringify([agent, place, adds]))
    .digest('hex')
    .slice(0, 24);
}

function placesFor(
  { settings }: BacktestDeps,
  { adds, agent: key }: Proposal<unknown>,
  agent: AgentConfig,
  policy: TenantPolicy,
): [ProposalPlace, Change][] {
  const ofAgent = { agents: { [key]: withRule(agent, adds) } };
  if ('allowlist' in adds) return [['agent', ofAgent]];
  const named: ProposedRule = { rule: { ...adds.rule, agent: key } };
  return [
    ['agent', ofAgent],
    ['tenant', { tenant_policy: { ...policy, ...withRule(policy, named) } }],
    ['settings', { settings: withRule(settings, named) }],
  ];
}

type Rules = Pick<AgentConfig, 'tools' | 'exec'>;

/** The changed parts of the rules. */
export function withRule(
  { tools, exec }: { [Part in keyof Rules]: Rules[Part] | undefined },
  adds: ProposedRule,
): Rules {
  if ('allowlist' in adds)
    return { exec: { ...exec, allowlist: [...(exec?.allowlist ?? []), adds.allowlist] } };
  return { tools: { ...tools, rules: [adds.rule, ...(tools?.rules ?? [])] } };
}
