/** PO-4 for tools: what an agent has, and what decides on a call, by the functions that list and judge calls. */
import type { z } from 'zod';
import {
  decideTool,
  explainTools,
  type PolicyLayers,
  type ToolDecision,
} from '#domain/policy/effective-tools.ts';
import { hookName, hooksOfCall } from '#domain/turn/hook.ts';
import { explainDecision } from '#domain/policy/explain-decision.ts';
import type { PolicyTool } from '#domain/policy/tool-groups.ts';
import type { ExplainAnswer, explainToolSchema } from '../schema/explain.ts';
import { createCallRules, policyLayers, policyToolOf, type Verdict } from '#policy/call-rules.ts';
import type { Catalog } from '#policy/catalog.ts';
import { decideCall } from '#policy/decide-call.ts';
import { type ExplainScope, policyToolNamed, type RuleSource, scopeOf } from './explain-scope.ts';
import { toolRemedy } from './remedies.ts';

export interface ExplainToolDeps extends RuleSource {
  /** The catalog of an agent. */
  readonly catalogOf: (agent: string) => Promise<Catalog>;
}

export async function explainTool(
  deps: ExplainToolDeps,
  input: z.infer<typeof explainToolSchema>,
): Promise<ExplainAnswer> {
  const scope = await scopeOf(deps, input);
  const catalog = await deps.catalogOf(scope.agent.key);
  const tools = scope.universe?.tools ?? catalog.list().map(policyToolOf);
  const layers = policyLayers(scope.settings.tools, scope);
  const all = explainTools(tools, layers, scope.universe?.profiles);
  const names = all.flatMap(({ tool, allowed }) => (allowed ? [tool] : [])).toSorted();
  if (input.tool === undefined)
    return {
      tools: names,
      decisions: all.map(({ tool, allowed, step, rule }) => ({
        tool,
        decision: allowed ? 'allow' : 'deny',
        step,
        rule,
      })),
    };
  return { ...explainOne(catalog, scope, tools, layers, input.tool, input.args), tools: names };
}

function explainOne(
  catalog: Catalog,
  scope: ExplainScope,
  tools: readonly PolicyTool[],
  layers: PolicyLayers,
  name: string,
  args: Readonly<Record<string, unknown>> | undefined,
): ExplainAnswer {
  const found = scope.universe ? undefined : catalog.find(name)?.tool;
  if (!found) {
    const registered = tools.find((tool) => tool.name === name || tool.aliases?.includes(name));
    const decision = decideTool(registered ?? policyToolNamed(name), layers, scope.universe?.profiles);
    return fromList(decision, registered !== undefined);
  }
  const { settings, ...basis } = scope;
  const rules = createCallRules({
    catalog,
    tools: settings.tools,
    exec: settings.exec,
    deniedPaths: settings.deniedPaths,
  });
  const call = { ...basis, user: scope.context.user ?? null, tool: found };
  const { verdict, reason } = decideCall(rules, catalog, settings.tools, call, args);
  const answer = answerOf(verdict, reason);
  if (verdict.verdict === 'deny') return answer;
  const { tenant_policy, agent } = scope;
  const requests = hooksOfCall([settings.hooks, tenant_policy?.hooks, agent.hooks], policyToolOf(found));
  return { ...answer, hooks: requests.length > 0 ? requests.map(hookName) : undefined };
}

function answerOf(verdict: Verdict, reason: string): ExplainAnswer {
  const { verdict: decision, step, rule } = verdict;
  const terms = verdict.verdict === 'ask' ? verdict.terms : undefined;
  return {
    decision,
    step,
    rule,
    reason,
    remedy: toolRemedy(decision, step, rule),
    terms: terms && { ...terms },
  };
}

function fromList({ tool, allowed, step, rule }: ToolDecision, known: boolean): ExplainAnswer {
  const words = explainDecision({ tool, allowed, step, rule });
  const decision = allowed ? 'allow' : 'deny';
  return {
    decision,
    step,
    rule,
    reason: known ? words : `there is no tool ${tool}; if there were: ${words}`,
    remedy: toolRemedy(decision, step, rule),
    known: known ? undefined : false,
  };
}
