/**
 * AP-5: finds the rule, if any, that allows or denies a call or requires a person's decision; any tool may have one.
 */
import { commandSpellings } from '@tempoclaw/shell-judge';
import { matchGlob } from '@tempoclaw/shell-judge/glob';
import type { CallRule, RuleDecision, ToolPolicy } from '#domain/agent.ts';
import { addressesOf, withoutFragment } from './addresses.ts';
import { PROFILE_RULES } from './profiles.ts';
import { matchesTool, type PolicyTool } from './tool-groups.ts';
import type { UsedTool } from './used-tools.ts';
import { fieldOf } from '../outside-value.ts';

export interface CallToMatch {
  readonly tool: PolicyTool;
  readonly args: Readonly<Record<string, unknown>>;
  /** The agent's key. */
  readonly agent: string;
  readonly user: string | null;
  readonly channel: string | null;
  /** For a shell command: the words of each simple command in it. */
  readonly commands?: readonly (readonly string[])[];
  /** Provider of the agent's model; it selects `by_provider`. */
  readonly provider?: string | undefined;
  /** What the session has read before. */
  readonly used?: readonly UsedTool[];
  /** Addresses that the user wrote or the session requested before; absent means none. */
  readonly addresses?: ReadonlySet<string> | undefined;
}

/** Layers from the outermost to the innermost. */
export const RULE_LAYERS = ['global', 'tenant', 'agent'] as const;
export type RuleLayer = (typeof RULE_LAYERS)[number];

export interface FoundRule {
  readonly layer: RuleLayer;
  readonly rule: CallRule;
  /** What a rule that looks back found (PO-5). */
  readonly after?: UsedTool;
}

const STRICTNESS: Readonly<Record<RuleDecision, number>> = { allow: 0, ask: 1, deny: 2 };

/**
 * In each layer the first rule that matches applies. Among the layers the strictest wins, so that no layer removes
 * another's rule.
 */
export function findCallRule(
  layers: Readonly<Partial<Record<RuleLayer, ToolPolicy | undefined>>>,
  call: CallToMatch,
): FoundRule | undefined {
  let found: FoundRule | undefined;
  for (const layer of RULE_LAYERS) {
    const rule = rulesOf(layers[layer], call.provider).find((each) => matchesCall(each, call));
    if (rule && (!found || STRICTNESS[rule.decision] > STRICTNESS[found.rule.decision]))
      found = { layer, rule, after: usedBefore(rule, call) };
  }
  return found;
}

/** `ask` is an abbreviation for rules that ask and come after the others; those of the profile come last. */
function rulesOf(policy: ToolPolicy | undefined, provider: string | undefined): readonly CallRule[] {
  if (!policy) return [];
  const { rules = [], ask = [], by_provider, profile } = policy;
  const ofProfile = fieldOf(PROFILE_RULES, fieldOf(by_provider, provider)?.profile ?? profile) ?? [];
  if (ask.length === 0 && ofProfile.length === 0) return rules;
  return [...rules, ...ask.map((rule) => ({ ...rule, decision: 'ask' as const })), ...ofProfile];
}

/** The first thing the session has read that the rule's `after` matches. */
function usedBefore({ after }: CallRule, { used }: CallToMatch): UsedTool | undefined {
  return used?.find(({ tool }) => after?.some((pattern) => matchesTool(pattern, tool)));
}

/** Every field of the rule must match. */
function matchesCall(rule: CallRule, call: CallToMatch): boolean {
  if (!matchesTool(rule.tool, call.tool)) return false;
  if (rule.agent !== undefined && !matchGlob(rule.agent, call.agent)) return false;
  if (rule.after !== undefined && usedBefore(rule, call) === undefined) return false;
  if (!matchesOptional(rule.user, call.user) || !matchesOptional(rule.channel, call.channel)) return false;
  if (rule.address === 'new' && !namesNewAddress(call)) return false;
  const { only_args } = rule;
  if (only_args && !Object.keys(call.args).every((name) => only_args.includes(name))) return false;
  return Object.entries(rule.args ?? {}).every(([name, glob]) => matchesArgument(rule, call, name, glob));
}

/** The built-in web tools send no fragment; other tools may use it in any way. */
function namesNewAddress({ tool, args, addresses }: CallToMatch): boolean {
  const sent = tool.group === 'web' ? withoutFragment : (address: string) => address;
  return addressesOf(args).some((address) => !addresses?.has(sent(address)));
}

/** Whether a path or address climbs out of a folder that it contains. */
export function climbs(text: string): boolean {
  return /(?:^|[/\\])(?:\.|%2e){2}(?:[/\\]|$)/i.test(text);
}

function matchesOptional(glob: string | undefined, text: string | null): boolean {
  return glob === undefined || (text !== null && matchGlob(glob, text));
}

/**
 * An argument that is not text is matched as JSON. A command is matched as written and command by command. So quotes,
 * lists, folders and options before a subcommand hide nothing from a rule that asks or denies, and nothing else is
 * allowed together with an allowed command.
 */
function matchesArgument(rule: CallRule, call: CallToMatch, name: string, glob: string): boolean {
  if (!Object.hasOwn(call.args, name)) return false;
  const value = call.args[name];
  if (value === undefined) return false;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // `notes/*` allows only what is below notes/.
  if (rule.decision === 'allow' && climbs(text) && !climbs(glob)) return false;
  const isMatch = matchGlob(glob, text);
  if (name !== 'command' || call.commands === undefined) return isMatch;
  const { commands } = call;
  if (rule.decision === 'allow')
    return commands.length > 0 && commands.every((words) => matchGlob(glob, words.join(' ')));
  return isMatch || commands.some((words) => commandSpellings(words).some((text) => matchGlob(glob, text)));
}
