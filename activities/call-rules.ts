/** What an agent may call: the rules over the catalog and the settings, asked at planning and again at the call (PO-3). */
import type { AgentConfig, AskRule, ToolPolicy } from '#domain/agent.ts';
import { type ApprovalTerms, termsOf } from '#domain/approval-terms.ts';
import {
  decideTool,
  effectiveTools,
  explainTools,
  type PolicyLayers,
  type ToolDecision,
} from '#domain/policy/effective-tools.ts';
import { explainDecision } from '#domain/policy/explain-decision.ts';
import { findAskRule } from '#domain/policy/find-ask-rule.ts';
import type { PolicyTool } from '#domain/policy/tool-groups.ts';
import { ALLOWED_ALWAYS, type ShellVerdict } from '#domain/shell/judge-command.ts';
import { proposeAllowlistEntry } from '#domain/shell/propose-allowlist-entry.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import type { MessageContext } from '#domain/turn.ts';
import type { Catalog } from './catalog.ts';
import type { Tool } from './define-tool.ts';
import { commandOf, judgeExec } from './exec-rules.ts';

/** The tool whose calls are judged as shell commands. */
const EXEC = 'exec';

/** Whose rules hold. */
export interface RuleScope {
  readonly agent: AgentConfig;
  /** Of the agent's tenant; null or absent when it sets none. */
  readonly tenant_policy?: TenantPolicy | null;
  readonly context: MessageContext;
}

export interface CallToJudge extends RuleScope {
  readonly user: string | null;
  readonly tool: Tool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly allowlist: readonly { readonly tool: string; readonly pattern: string }[];
}

export type Verdict =
  | { readonly verdict: 'allow' }
  | { readonly verdict: 'deny'; readonly reason: string }
  | {
      readonly verdict: 'ask';
      readonly reason: string;
      readonly risk?: string;
      readonly terms?: ApprovalTerms;
    };

export interface CallRules {
  /** Names of the tools to show to the model. */
  offered(scope: RuleScope): readonly string[];
  /** For each tool the step and rule that gives or withholds it (PO-4). */
  explain(scope: RuleScope): readonly ToolDecision[];
  judge(call: CallToJudge): Verdict;
  /** The pattern that `approve_always` would store, or why none is safe. */
  alwaysPattern(
    tool: string,
    args: Readonly<Record<string, unknown>>,
  ): { readonly pattern: string } | { readonly refused: string };
}

export function createCallRules(deps: { readonly catalog: Catalog; readonly tools: ToolPolicy }): CallRules {
  const facts = new WeakMap<Tool, PolicyTool>();
  const factOf = (tool: Tool): PolicyTool => {
    const fact = facts.get(tool) ?? toPolicyTool(tool);
    facts.set(tool, fact);
    return fact;
  };
  const layersOf = ({ agent, tenant_policy, context }: RuleScope): PolicyLayers => ({
    global: deps.tools,
    tenant: tenant_policy?.tools,
    agent: agent.tools,
    provider: providerOf(agent),
    group: context.group,
    subagent: context.subagent && (context.subagent.leaf ? 'leaf' : 'inner'),
    parent: context.within,
    request: context.allowed_tools,
  });

  return {
    offered: (scope) => effectiveTools(deps.catalog.list().map(factOf), layersOf(scope)),

    explain: (scope) => explainTools(deps.catalog.list().map(factOf), layersOf(scope)),

    judge(call) {
      const tool = factOf(call.tool);
      const given = decideTool(tool, layersOf(call));
      if (!given.allowed)
        return {
          verdict: 'deny',
          reason: `${call.tool.name} is not among the tools that ${call.agent.key} was given: ${explainDecision(given)}`,
        };
      const command = call.tool.name === EXEC ? judgeExec({ ...call, stored: storedFor(call) }) : null;
      if (command?.decision === 'deny') return { verdict: 'deny', reason: command.reason };
      const wasAllowed = command
        ? command.rule === ALLOWED_ALWAYS
        : storedFor(call).includes(exactPattern(call.args));
      if (wasAllowed) return { verdict: 'allow' };
      const rule = findAskRule(askRules(deps.tools, call), {
        tool,
        args: call.args,
        agent: call.agent.key,
        user: call.user,
      });
      return rule ? askedBy(rule) : command ? verdictOf(command) : { verdict: 'allow' };
    },

    alwaysPattern: (tool, args) =>
      tool === EXEC ? proposeAllowlistEntry(commandOf(args)) : { pattern: exactPattern(args) },
  };
}

function askRules(settings: ToolPolicy, { tenant_policy, agent }: RuleScope): readonly AskRule[] {
  return [settings, tenant_policy?.tools, agent.tools].flatMap((layer) => layer?.ask ?? []);
}

function askedBy(rule: AskRule): Verdict {
  const terms = termsOf(rule);
  return {
    verdict: 'ask',
    reason: rule.reason ?? `a rule asks before ${rule.tool}`,
    ...(terms === undefined ? {} : { terms }),
  };
}

function verdictOf({ decision, reason, category }: ShellVerdict): Verdict {
  if (decision === 'allow') return { verdict: 'allow' };
  return {
    verdict: decision,
    reason,
    ...(decision === 'ask' && category !== null ? { risk: category } : {}),
  };
}

/** Patterns that people's “always” left for the tool. */
function storedFor(call: CallToJudge): readonly string[] {
  return call.allowlist.filter((entry) => entry.tool === call.tool.name).map((entry) => entry.pattern);
}

function toPolicyTool(tool: Tool): PolicyTool {
  return {
    name: tool.name,
    aliases: Object.keys(tool.aliases ?? {}),
    group: tool.group,
    readOnly: tool.replay === 'readonly',
  };
}

/** Of the model that is asked first: what it may call does not change when another one answers in its place. */
function providerOf(agent: AgentConfig): string | undefined {
  const model = typeof agent.model === 'string' ? agent.model : agent.model[0];
  return model?.split('/', 1)[0];
}

/** Exactly these arguments. */
function exactPattern(args: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1)));
}
