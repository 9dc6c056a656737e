/**
 * What an agent may call: the rules over the catalog and the settings, applied at planning and again at the call
 * (PO-3).
 */
import {
  ALLOWED_ALWAYS,
  type CommandPlace,
  entryProblem,
  judgeCommand,
  proposeAllowlistEntry,
  resolverAt,
  type ResolveProgram,
  type ShellVerdict,
} from '@tempoclaw/shell-judge';
import type { AgentConfig, ExecPolicy, ToolPolicy } from '#domain/agent.ts';
import { type ApprovalTerms, termsOf } from '#domain/approval/approval-terms.ts';
import { effectiveExec } from '#domain/policy/effective-exec.ts';
import {
  decideTool,
  effectiveTools,
  type PolicyLayers,
  type PolicyStep,
  type ToolDecision,
} from '#domain/policy/effective-tools.ts';
import { explainDecision } from '#domain/policy/explain-decision.ts';
import { findCallRule, type FoundRule, type RuleLayer } from '#domain/policy/find-call-rule.ts';
import { matchesTool, type PolicyTool } from '#domain/policy/tool-groups.ts';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import type { AlwaysOffer } from '#domain/approval/approval.ts';
import { DEFAULT_PATH_RULES } from '#domain/files/path-rules.ts';
import type { SkillInUse } from '#domain/policy/skills-in-use.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import { agentOfTurn } from '#domain/assignment/subagent-agent.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import type { Catalog } from './catalog.ts';
import { isOfClient } from './client-tools.ts';
import type { Tool } from './define-tool.ts';
import { COMMAND_NAMES, folderOf, isCommand, lineOf } from './exec-rules.ts';
import { createFollowLinks } from './follow-links.ts';
import { createUsedTools } from './used-tools.ts';

/** The scope whose rules apply. */
export interface RuleScope {
  readonly agent: AgentConfig;
  /** Policy of the agent's tenant; null or absent when it sets none. */
  readonly tenant_policy?: TenantPolicy | null;
  readonly context: MessageContext;
  /** Skills in use in the turn at that time; none when absent. */
  readonly skills?: readonly SkillInUse[];
}

export interface CallToJudge extends RuleScope {
  readonly user: string | null;
  readonly tool: Tool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly allowlist: readonly { readonly tool: string; readonly pattern: string }[];
  /** What the session had read before the call was requested. */
  readonly used: UsedTools;
  /** Addresses that the user wrote or the session requested before; none when absent. */
  readonly addresses?: ReadonlySet<string>;
  /** Where its command would run, if it has one; by default the machine itself. */
  readonly place?: CommandPlace;
  /** The caller's folder on this machine, whose links are followed for a command's paths; when absent, none are. */
  readonly workspace?: string | undefined;
}

/** Which of a call's rules decided: a step of the tool policy, a rule on calls, or the judge of commands. */
export type CallStep =
  | PolicyStep
  | `${RuleLayer}_rule`
  | 'shell'
  | 'allowed_always'
  | 'arguments'
  | 'mcp_grant'
  | 'client_tool'
  | 'tool';

interface Decided {
  readonly step: CallStep;
  /** The pattern, profile or shell rule; null when a list decides by not containing the tool. */
  readonly rule: string | null;
}

export type Verdict =
  | (Decided & { readonly verdict: 'allow' })
  | (Decided & { readonly verdict: 'deny'; readonly reason: string })
  | (Decided & {
      readonly verdict: 'ask';
      readonly reason: string;
      readonly risk?: string;
      /** Who decides and how long it waits; absent means the defaults. */
      readonly terms?: ApprovalTerms;
    });

export interface CallRules {
  /** Names of the tools in `catalog` to show to the model; by default the catalog of native tools. */
  offered(scope: RuleScope, catalog?: Catalog): readonly string[];
  judge(call: CallToJudge): Verdict;
  /** The part that came from outside. */
  outside(used: UsedTools): UsedTools;
  /** The decision as far as it is possible before the arguments are known. */
  judgeTool(call: Omit<CallToJudge, 'args' | 'allowlist'>): Verdict;
  /** What `approve_always` would store, or why nothing can be stored safely. */
  alwaysOffer(call: AlwaysCall): AlwaysOffer;
}

/** `args` as people see them. */
export interface AlwaysCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly definition?: Tool['definition'];
  readonly place: CommandPlace;
  /** Quorum of the approval's terms. */
  readonly quorum?: number | undefined;
}

/** Why people are asked about code of the workspace when the host does not confine commands fully (SH-6). */
const OPEN_HOST = 'nothing keeps it from TempoClaw’s own keys on this host';

/** The turn waits for the result, as for a decision. */
const AT_CLIENT: Verdict = {
  verdict: 'ask',
  reason: 'the sender of the message runs it and answers with its result',
  step: 'client_tool',
  rule: null,
};

export function createCallRules(deps: {
  readonly catalog: Catalog;
  /** The layer of the settings. */
  readonly tools: ToolPolicy;
  readonly exec?: ExecPolicy;
  /** Relative names that no command may contain; absent means the defaults. */
  readonly deniedPaths?: readonly string[] | undefined;
  /** Without it no command can be allowed permanently. */
  readonly resolveProgram?: ResolveProgram;
}): CallRules {
  const resolve = deps.resolveProgram ?? (() => null);
  const deniedPaths = deps.deniedPaths ?? DEFAULT_PATH_RULES.deniedPrefixes;
  const facts = new WeakMap<Tool, PolicyTool>();
  const factOf = (tool: Tool): PolicyTool => {
    const fact = facts.get(tool) ?? policyToolOf(tool);
    facts.set(tool, fact);
    return fact;
  };
  const usedTools = createUsedTools((name) => {
    const found = deps.catalog.find(name)?.tool;
    return found && factOf(found);
  });
  const layersOf = (scope: RuleScope): PolicyLayers => policyLayers(deps.tools, scope);
  const verdictOn = (call: CallToJudge): ShellVerdict | null => {
    const exec = effectiveExec([deps.exec, call.tenant_policy?.exec, call.agent.exec]);
    const line = lineOf(call.tool.name, call.args);
    if (line !== undefined)
      return judgeCommand(line, {
        ...exec,
        deniedPaths,
        stored: storedFor(call),
        resolve: resolverAt(call.place ?? 'host', resolve),
        openHost: call.place === 'open_host' ? OPEN_HOST : undefined,
        followLinks:
          call.workspace === undefined ? undefined : createFollowLinks(call.workspace, folderOf(call.args)),
      });
    return call.tool.judge?.(call.args, { ...exec, deniedPaths }) ?? null;
  };
  const ruleOn = (
    call: Omit<CallToJudge, 'allowlist'>,
    command: ShellVerdict | null,
  ): FoundRule | undefined =>
    findCallRule(
      { global: deps.tools, tenant: call.tenant_policy?.tools, agent: call.agent.tools },
      {
        // A tool that also changes things may only read with this call.
        tool: call.tool.onlyReads?.(call.args) ? { ...factOf(call.tool), readOnly: true } : factOf(call.tool),
        args: call.args,
        agent: call.agent.key,
        user: call.user,
        channel: call.context.channel ?? null,
        commands: command?.command_words,
        provider: providerOf(agentOfTurn(call.agent, call.context)),
        used: usedTools(call.used),
        addresses: call.addresses,
      },
    );

  return {
    offered(scope, catalog = deps.catalog) {
      const tools = catalog
        .list()
        .filter((tool) => !tool.isReversal && grantDenial(tool, scope) === undefined);
      return effectiveTools(tools.map(factOf), layersOf(scope));
    },

    judge(call) {
      const decision = decideTool(factOf(call.tool), layersOf(call));
      const denial = denialOf(call, decision);
      if (denial) return denial;
      const command = verdictOn(call);
      if (command?.decision === 'deny') return verdictOf(command);
      const found = ruleOn(call, command);
      if (found?.rule.decision === 'deny') return byRule(found);
      if (isOfClient(call.tool)) return AT_CLIENT;
      const always = alwaysAllowed(call, command);
      if (always) return always;
      if (found?.rule.decision === 'ask') return byRule(found);
      if (command) return verdictOf(command);
      return found ? byRule(found) : byTool(call.tool, decision);
    },

    outside(used) {
      const read = usedTools(used).filter(({ tool }) => matchesTool('capability:outside', tool));
      return Object.fromEntries(read.map(({ tool, call }) => [tool.name, call]));
    },

    judgeTool(call) {
      const decision = decideTool(factOf(call.tool), layersOf(call));
      const denial = denialOf(call, decision);
      if (denial) return denial;
      if (isOfClient(call.tool)) return AT_CLIENT;
      const found = ruleOn({ ...call, args: {} }, null);
      return found ? byRule(found) : byTool(call.tool, decision);
    },

    alwaysOffer({ tool, args, definition, place, quorum = 1 }) {
      if (quorum > 1) return { refused: 'later calls would need no quorum' };
      const line = lineOf(tool, args);
      if (line === undefined) return exactOffer(tool, args, definition);
      return proposeAllowlistEntry(line, resolve, place);
    },
  };
}

function exactOffer(
  tool: string,
  args: Readonly<Record<string, unknown>>,
  definition: Tool['definition'],
): AlwaysOffer {
  const pattern = exactPattern(args, definition);
  const problem = entryProblem(pattern);
  const shown = `${tool} with exactly these arguments`;
  return problem === null ? { pattern, shown } : { refused: problem };
}

/** The layers of PO-1 for a call. */
export function policyLayers(
  settings: ToolPolicy,
  { agent, tenant_policy, context, skills }: RuleScope,
): PolicyLayers {
  return {
    global: settings,
    tenant: tenant_policy?.tools,
    agent: agent.tools,
    // A subagent may have a model of another provider.
    provider: providerOf(agentOfTurn(agent, context)),
    group: context.group,
    subagent: context.subagent && (context.subagent.leaf ? 'leaf' : 'inner'),
    parent: context.within,
    request: context.allowed_tools,
    skills,
  };
}

/** The denial of a tool that the rules do not offer, or that a grant denies. */
function denialOf(
  call: Omit<CallToJudge, 'args' | 'allowlist'>,
  decision: ToolDecision,
): Verdict | undefined {
  if (decision.allowed) return grantDenial(call.tool, call);
  const { step, rule } = decision;
  const reason = `${call.tool.name} is not among the tools that ${call.agent.key} was given: ${explainDecision(decision)}`;
  return { verdict: 'deny', reason, step, rule };
}

/** MC-3: checked when tools are offered and again at the call. */
function grantDenial(tool: Tool, { agent, context }: RuleScope): Verdict | undefined {
  const reason = tool.accessProblem?.(agent.key, context.user ?? null);
  return reason === undefined ? undefined : { verdict: 'deny', reason, step: 'mcp_grant', rule: null };
}

function byTool({ asks, name }: Tool, { step, rule }: ToolDecision): Verdict {
  if (asks !== undefined) return { verdict: 'ask', reason: asks, step: 'tool', rule: name };
  return { verdict: 'allow', step, rule };
}

function byRule({ layer, rule, after }: FoundRule): Verdict {
  const decided = { step: `${layer}_rule`, rule: rule.tool } as const;
  const since = after ? ` after ${after.tool.name} (${after.call})` : '';
  switch (rule.decision) {
    case 'allow':
      return { verdict: 'allow', ...decided };
    case 'deny':
      return {
        verdict: 'deny',
        reason: `${rule.reason ?? `a rule denies ${rule.tool}`}${since}`,
        ...decided,
      };
    default: {
      const terms = termsOf(rule);
      const reason = `${rule.reason ?? `a rule asks before ${rule.tool}`}${since}`;
      return { verdict: 'ask', reason, terms, ...decided };
    }
  }
}

/** Whether a person has permanently allowed exactly this. */
function alwaysAllowed(call: CallToJudge, command: ShellVerdict | null): Verdict | undefined {
  const pattern = exactPattern(call.args, call.tool.definition);
  const isAllowed = isCommand(call.tool.name)
    ? command?.rule === ALLOWED_ALWAYS
    : storedFor(call).includes(pattern);
  return isAllowed ? { verdict: 'allow', step: 'allowed_always', rule: null } : undefined;
}

function verdictOf({ decision, rule, reason, category }: ShellVerdict): Verdict {
  const decided = { step: 'shell', rule } as const;
  if (decision === 'allow') return { verdict: 'allow', ...decided };
  const risk = decision === 'ask' && category !== null ? { risk: category } : {};
  return { verdict: decision, reason, ...risk, ...decided };
}

/** Patterns that people have permanently allowed for the tool. */
function storedFor(call: CallToJudge): readonly string[] {
  return call.allowlist.filter((entry) => entry.tool === call.tool.name).map((entry) => entry.pattern);
}

/** The properties of a tool that policies use. */
export function policyToolOf(tool: Tool): PolicyTool {
  return {
    name: tool.name,
    aliases: [...Object.keys(tool.aliases ?? {}), ...(isCommand(tool.name) ? COMMAND_NAMES : [])],
    group: tool.group,
    readOnly: tool.replay === 'readonly',
    ...(tool.mcp && { mcpServer: tool.mcp.server, isInternal: tool.mcp.isInternal }),
  };
}

/** Provider of the first model: what it may call does not change when a fallback answers. */
function providerOf(agent: AgentConfig): string | undefined {
  const model = typeof agent.model === 'string' ? agent.model : agent.model[0];
  return model?.split('/', 1)[0];
}

/** Exactly these arguments, and exactly this definition of the tool if it can change. */
function exactPattern(args: Readonly<Record<string, unknown>>, definition: Tool['definition']): string {
  const exact = JSON.stringify(Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1)));
  return definition === undefined ? exact : `${definition.id}.${definition.revision} ${exact}`;
}
