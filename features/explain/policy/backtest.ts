/** PO-4: what other rules would decide on the calls of the last days. It runs nothing and writes no row. */
import { setImmediate } from 'node:timers/promises';
import type { ResolveProgram } from '@tempoclaw/shell-judge';
import type { AgentConfig, ExecPolicy, RuleDecision, ToolPolicy } from '#domain/agent.ts';
import { fieldOf } from '#domain/outside-value.ts';
import type { backtestSchema } from '../schema/backtest.ts';
import type { Kept } from '#domain/schema/scalars.ts';
import { agentOfTurn } from '#domain/assignment/subagent-agent.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import { type CallRules, createCallRules, type Verdict } from '#policy/call-rules.ts';
import type { AgentCatalogs } from '#policy/agent-catalogs.ts';
import {
  type PastCall,
  readPastCalls,
  readRulesOfTenant,
  type RulesOfTenant,
} from '../store/past-calls-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findTenantPolicy } from '#store/tenant-policy-store.ts';

export interface BacktestDeps {
  readonly pool: Pool;
  readonly catalogs: AgentCatalogs;
  /** The present settings; the request replaces parts of them. */
  readonly settings: {
    readonly tools: ToolPolicy;
    readonly exec?: ExecPolicy | undefined;
    readonly deniedPaths?: readonly string[] | undefined;
  };
  readonly resolveProgram: ResolveProgram;
  readonly now: () => number;
}

/** `agents` are by key; each part replaces the agent's. */
export interface BacktestQuestion extends Pick<Kept<typeof backtestSchema>, 'days' | 'settings' | 'agents'> {
  readonly tenant: string;
  readonly tenant_policy?: TenantPolicy | undefined;
}

type Counts = Readonly<Record<RuleDecision, number>>;

export interface Differing {
  readonly call: PastCall;
  readonly now: Verdict;
}

export interface BacktestReport {
  readonly since: Date;
  readonly calls: number;
  /** There are more calls than were checked. */
  readonly truncated: boolean;
  /** The decision as recorded, and under the other rules. */
  readonly before: Counts;
  readonly after: Counts;
  readonly differ: number;
  /** Calls of tools that no longer exist, or whose arguments the tool no longer accepts: not counted. */
  readonly unreadable: number;
  readonly differing: readonly Differing[];
}

/** Greatest number of calls checked, newest first: some seconds of judging. */
export const MAX_CALLS = 20_000;

/** Milliseconds of judging before other requests run. */
const SLICE_MS = 20;

/** `after` is the last differing call of the previous page; returns at most `limit` of those after it. */
export async function backtest(
  deps: BacktestDeps,
  question: BacktestQuestion,
  limit: number,
  after?: { readonly at: string; readonly id: string },
): Promise<BacktestReport> {
  const judge = await createJudge(deps, question);
  const since = new Date(deps.now() - question.days * 86_400_000);
  const before = { allow: 0, ask: 0, deny: 0 };
  const then = { allow: 0, ask: 0, deny: 0 };
  const differing: Differing[] = [];
  let seen = 0;
  let unreadable = 0;
  let differ = 0;
  await readPastCalls(forTenant(deps.pool, question.tenant), since, MAX_CALLS + 1, async (calls) => {
    let began = performance.now();
    for (const call of calls.slice(0, MAX_CALLS - seen)) {
      if (performance.now() - began > SLICE_MS) {
        // Other requests of the process run here.
        await setImmediate();
        began = performance.now();
      }
      const now = await judge(call);
      if (now === undefined) unreadable += 1;
      else {
        before[call.verdict] += 1;
        then[now.verdict] += 1;
        if (now.verdict === call.verdict) continue;
        differ += 1;
        if (differing.length < limit && (!after || isBehind(call, after))) differing.push({ call, now });
      }
    }
    seen += calls.length;
    return seen <= MAX_CALLS;
  });
  const calls = Math.min(seen, MAX_CALLS);
  return { since, calls, truncated: seen > MAX_CALLS, before, after: then, differ, unreadable, differing };
}

function isBehind(call: PastCall, after: { readonly at: string; readonly id: string }): boolean {
  const [mine, last] = [BigInt(call.at), BigInt(after.at)];
  return mine < last || (mine === last && call.id < after.id);
}

/** Undefined for a call that can no longer be judged. */
export async function createJudge(
  deps: BacktestDeps,
  question: Omit<BacktestQuestion, 'days'>,
): Promise<(call: PastCall) => Promise<Verdict | undefined>> {
  const { pool, catalogs, settings, resolveProgram } = deps;
  const { tenant } = question;
  const rows = await readRulesOfTenant(forTenant(pool, tenant));
  const tenant_policy = question.tenant_policy ?? (await findTenantPolicy(forTenant(pool, tenant)));
  const exec = question.settings?.exec ?? settings.exec;
  const catalogOf = onceEach((agent) => catalogs.of(tenant, agent));
  const rules: CallRules = createCallRules({
    catalog: await catalogOf(''),
    tools: question.settings?.tools ?? settings.tools,
    exec,
    deniedPaths: settings.deniedPaths,
    resolveProgram,
  });
  return async (call) => {
    const found = agentOf(rows, question, call.agent_key);
    const read = (await catalogOf(call.agent_key)).parse(call.tool, call.args);
    if (!found || !read.ok) return undefined;
    const { context, skills } = call;
    const agent = agentOfTurn(found, context);
    const user = context.user ?? null;
    return rules.judge({
      agent,
      tenant_policy,
      context,
      skills,
      user,
      tool: read.tool,
      args: read.args,
      allowlist: allowed(rows, call, user),
      used: call.used,
    });
  };
}

function onceEach<Value>(make: (key: string) => Promise<Value>): (key: string) => Promise<Value> {
  const made = new Map<string, Promise<Value>>();
  return (key) => {
    const known = made.get(key) ?? make(key);
    made.set(key, known);
    return known;
  };
}

function agentOf(
  rows: RulesOfTenant,
  { agents = {} }: Pick<BacktestQuestion, 'agents'>,
  key: string,
): AgentConfig | undefined {
  const agent = rows.agents.get(key);
  const changed = fieldOf(agents, key);
  if (!agent || !changed) return agent;
  return { ...agent, tools: changed.tools ?? agent.tools, exec: changed.exec ?? agent.exec };
}

function allowed(rows: RulesOfTenant, call: PastCall, user: string | null): RulesOfTenant['allowlist'] {
  return rows.allowlist.filter(
    (entry) => entry.agent_key === call.agent_key && (entry.user_id === null || entry.user_id === user),
  );
}
