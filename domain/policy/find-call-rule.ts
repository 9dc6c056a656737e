/** AP-5: the rule, if any, that allows, denies or puts a call to a person; any tool may have one. */
import type { CallRule, RuleDecision, ToolPolicy } from '#domain/agent.ts';
import { matchGlob } from '../glob/match-glob.ts';
import { matchesTool, type PolicyTool } from './tool-groups.ts';

export interface CallToMatch {
  readonly tool: PolicyTool;
  readonly args: Readonly<Record<string, unknown>>;
  /** The agent's key. */
  readonly agent: string;
  readonly user: string | null;
  readonly channel: string | null;
  /** Of a shell command: the words of each simple command in it. */
  readonly commands?: readonly (readonly string[])[];
}

/** From the outermost to the innermost. */
export const RULE_LAYERS = ['global', 'tenant', 'agent'] as const;
export type RuleLayer = (typeof RULE_LAYERS)[number];

export interface FoundRule {
  readonly layer: RuleLayer;
  readonly rule: CallRule;
}

const STRICTNESS: Readonly<Record<RuleDecision, number>> = { allow: 0, ask: 1, deny: 2 };

/** In each layer the first rule that matches; of the layers the strictest, so that no layer undoes another one's rule. */
export function findCallRule(
  layers: Readonly<Partial<Record<RuleLayer, ToolPolicy | undefined>>>,
  call: CallToMatch,
): FoundRule | undefined {
  let found: FoundRule | undefined;
  for (const layer of RULE_LAYERS) {
    const rule = rulesOf(layers[layer]).find((each) => matchesCall(each, call));
    if (rule && (!found || STRICTNESS[rule.decision] > STRICTNESS[found.rule.decision]))
      found = { layer, rule };
  }
  return found;
}

/** `ask` is short for rules that ask, after the others. */
function rulesOf(policy: ToolPolicy | undefined): readonly CallRule[] {
  if (!policy?.ask) return policy?.rules ?? [];
  return [...(policy.rules ?? []), ...policy.ask.map((rule) => ({ ...rule, decision: 'ask' as const }))];
}

/** Every field that the rule gives must match. */
function matchesCall(rule: CallRule, call: CallToMatch): boolean {
  if (!matchesTool(rule.tool, call.tool)) return false;
  if (rule.agent !== undefined && !matchGlob(rule.agent, call.agent)) return false;
  if (!matchesOptional(rule.user, call.user) || !matchesOptional(rule.channel, call.channel)) return false;
  return Object.entries(rule.args ?? {}).every(([name, glob]) => matchesArgument(rule, call, name, glob));
}

function matchesOptional(glob: string | undefined, text: string | null): boolean {
  return glob === undefined || (text !== null && matchGlob(glob, text));
}

/**
 * An argument that is no text is matched as JSON. A command is matched as it stands and command by command, so that
 * quotes and lists hide nothing from a rule that asks or denies, and nothing rides along with one that allows.
 */
function matchesArgument(rule: CallRule, call: CallToMatch, name: string, glob: string): boolean {
  if (!Object.hasOwn(call.args, name)) return false;
  const value = call.args[name];
  if (value === undefined) return false;
  const isMatch = matchGlob(glob, typeof value === 'string' ? value : JSON.stringify(value));
  if (name !== 'command' || call.commands === undefined) return isMatch;
  const parts = call.commands.map((words) => matchGlob(glob, words.join(' ')));
  return rule.decision === 'allow'
    ? parts.length > 0 && parts.every(Boolean)
    : isMatch || parts.some(Boolean);
}
