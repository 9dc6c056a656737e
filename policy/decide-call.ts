/** What the rules would decide on a call of a tool, before anybody makes it, with a reason also where they allow it. */
import type { ToolPolicy } from '#domain/agent.ts';
import { decideTool } from '#domain/policy/effective-tools.ts';
import { explainDecision } from '#domain/policy/explain-decision.ts';
import { type CallRules, type CallToJudge, policyLayers, policyToolOf, type Verdict } from './call-rules.ts';
import type { Catalog } from './catalog.ts';

/** `tools` are the settings that `rules` were made with. Without `args`, rules on arguments are not applied. */
export function decideCall(
  rules: Pick<CallRules, 'judge' | 'judgeTool'>,
  catalog: Pick<Catalog, 'parse'>,
  tools: ToolPolicy,
  call: Omit<CallToJudge, 'args'>,
  args: Readonly<Record<string, unknown>> | undefined,
): { readonly verdict: Verdict; readonly reason: string } {
  const verdict = args === undefined ? rules.judgeTool(call) : judge(rules, catalog, call, args);
  if (verdict.verdict !== 'allow') return { verdict, reason: verdict.reason };
  const decision = decideTool(policyToolOf(call.tool), policyLayers(tools, call));
  const isByList = verdict.step === decision.step;
  return { verdict, reason: isByList ? explainDecision(decision) : `allowed by ${verdict.step}` };
}

function judge(
  rules: Pick<CallRules, 'judge'>,
  catalog: Pick<Catalog, 'parse'>,
  call: Omit<CallToJudge, 'args'>,
  args: Readonly<Record<string, unknown>>,
): Verdict {
  const read = catalog.parse(call.tool.name, args);
  // As in a turn, where the model reads that its arguments are wrong.
  if (!read.ok)
    return { verdict: 'deny', reason: `${read.code}: ${read.message}`, step: 'arguments', rule: null };
  return rules.judge({ ...call, tool: read.tool, args: read.args });
}
