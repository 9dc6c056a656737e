/** What the rules would decide on a call of a tool, before anybody makes it, with a reason also where they allow it. */
import type { ToolPolicy } from '#domain/agent.ts';
import { decideTool } from '#domain/policy/effective-tools.ts';
import { explainDecision } from '#domain/policy/explain-decision.ts';
import { type CallRules, type CallToJudge, policyLayers, policyToolOf, type Verdict } from './call-rules.ts';
import type { Catalog } from './catalog.ts';

/** Why a call will not run, as the model reads it. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

export function denied(message: string): Refusal {
  return { code: 'PermissionDenied', message };
}

/**
 * PO-3: the denial of a tool that the agent was not given, whatever the arguments. Rules on calls do not count, because
 * they may allow the corrected arguments. Undefined when the agent has the tool, or there is none of that name.
 */
export function denialOfTool(
  rules: Pick<CallRules, 'judgeTool'>,
  call: Omit<CallToJudge, 'args' | 'tool'> & { readonly catalog: Pick<Catalog, 'find'> },
  name: string,
): Refusal | undefined {
  const tool = call.catalog.find(name)?.tool;
  const verdict = tool && rules.judgeTool({ ...call, tool });
  return verdict && isOfTool(verdict) ? denied(verdict.reason) : undefined;
}

function isOfTool(verdict: Verdict): verdict is Extract<Verdict, { readonly verdict: 'deny' }> {
  return verdict.verdict === 'deny' && !verdict.step.endsWith('_rule');
}

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
  rules: Pick<CallRules, 'judge' | 'judgeTool'>,
  catalog: Pick<Catalog, 'parse'>,
  call: Omit<CallToJudge, 'args'>,
  args: Readonly<Record<string, unknown>>,
): Verdict {
  const read = catalog.parse(call.tool.name, args);
  if (read.ok) return rules.judge({ ...call, tool: read.tool, args: read.args });
  const ofTool = rules.judgeTool(call);
  if (isOfTool(ofTool)) return ofTool;
  // As in a turn, where the model reads that its arguments are wrong.
  return { verdict: 'deny', reason: `${read.code}: ${read.message}`, step: 'arguments', rule: null };
}
