/**
 * The rules under which a case is explained: the present ones of an agent, or settings in the case. Settings may be a
 * `tempoclaw.yaml` as JSON, a tool policy alone, or its layers one by one, also under other systems' names
 * (`alsoAllow`, `byProvider`).
 */
import { toolPolicyOf } from '#domain/policy/settings-tools.ts';
import { z } from 'zod';
import type { RuleSettings } from '#api/deps.ts';
import type { AgentConfig, ToolPolicy } from '#domain/agent.ts';
import { Failure } from '#domain/errors.ts';
import type { Profiles } from '#domain/policy/profiles.ts';
import type { PolicyTool } from '#domain/policy/tool-groups.ts';
import { agentPatchSchema, sharedExecPolicySchema, toolPolicySchema } from '#domain/schema/agent.ts';
import type { explainToolSchema } from '../schema/explain.ts';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import type { SkillInUse } from '#domain/policy/skills-in-use.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import type { MessageContext } from '#domain/turn/turn.ts';

/** An agent as its rows contain it. */
export interface KnownAgent {
  readonly agent: AgentConfig;
  readonly tenant_policy: TenantPolicy | null;
  readonly allowlist: readonly { readonly tool: string; readonly pattern: string }[];
}

export interface RuleSource {
  readonly settings: RuleSettings;
  /** Throws NotFound. */
  readonly agentOf: (key: string | undefined) => Promise<KnownAgent>;
  /** What a session has read, if there are rows. Throws NotFound. */
  readonly usedIn?: (session: string) => Promise<UsedTools>;
  /** Skills in use in its turn. */
  readonly skillsIn?: (session: string) => Promise<readonly SkillInUse[]>;
}

export interface ExplainScope extends KnownAgent {
  readonly settings: RuleSettings;
  readonly context: MessageContext;
  readonly used: UsedTools;
  readonly skills: readonly SkillInUse[];
  /** Tools, and profiles, in place of the catalog's. */
  readonly universe?: { readonly tools: readonly PolicyTool[]; readonly profiles?: Profiles };
}

type ToolCase = z.infer<typeof explainToolSchema>;
type ScopeCase = Pick<ToolCase, 'agent' | 'config' | 'context'>;

/** Throws InvalidInput that says which part of the case is wrong, and NotFound. */
export async function scopeOf(source: RuleSource, input: ScopeCase): Promise<ExplainScope> {
  const { config } = input;
  const known = await knownAgent(source, input);
  const base = {
    ...known,
    settings: source.settings,
    context: contextOf(input.context),
    used: await usedOf(source, input.context),
    skills: await skillsOf(source, input.context),
  };
  const scope = config === undefined ? base : withConfig(base, config);
  const provider = input.context?.provider ?? textOf(config?.['provider']);
  return provider === undefined ? scope : { ...scope, agent: { ...scope.agent, model: `${provider}/any` } };
}

async function knownAgent(source: RuleSource, { agent, context }: ScopeCase): Promise<KnownAgent> {
  if (agent === undefined || typeof agent === 'string') return source.agentOf(agent ?? context?.agent);
  const { key, ...rest } = agent;
  const known = await rowsUnder(source, textOf(key));
  const fields = read(agentPatchSchema, rest, 'agent');
  const input = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  return { ...known, agent: { ...known.agent, ...input, key: textOf(key) ?? known.agent.key } };
}

/** Settings replace parts of the agent with that key; a key that no agent has yet stands on those of main. */
async function rowsUnder(source: RuleSource, key: string | undefined): Promise<KnownAgent> {
  try {
    return await source.agentOf(key);
  } catch (error) {
    const isNew = key !== undefined && error instanceof Failure && error.type === 'NotFound';
    if (!isNew) throw error;
    return source.agentOf(undefined);
  }
}

async function usedOf(source: RuleSource, input: ToolCase['context'] = {}): Promise<UsedTools> {
  const { used, session } = input;
  if (used !== undefined) return Object.fromEntries(used.map((name) => [name, 'as the case says']));
  if (session === undefined) return {};
  if (source.usedIn) return source.usedIn(session);
  throw new Failure('InvalidInput', 'context.session is asked of the server; name the tools in context.used');
}

async function skillsOf(source: RuleSource, input: ToolCase['context'] = {}): Promise<readonly SkillInUse[]> {
  const { skills, session } = input;
  if (skills) return skills.map(({ name, allowed_tools: allowed, brings }) => ({ name, allowed, brings }));
  return session === undefined ? [] : ((await source.skillsIn?.(session)) ?? []);
}

function contextOf(input: ToolCase['context'] = {}): MessageContext {
  const { user, channel, allowed_tools, group, within, subagent, leaf } = input;
  const level = typeof subagent === 'object' ? subagent : { depth: 1, leaf: leaf === true };
  const isSubagent = typeof subagent === 'object' || subagent === true || leaf === true;
  return { user, channel, allowed_tools, group, within, subagent: isSubagent ? level : undefined };
}

/** Layers that a case may contain one by one, in place of settings in the form of `tempoclaw.yaml`. */
const PLACES = 'global tenant agent group request subagent within provider registered groups profiles'.split(
  ' ',
);

const listSchema = z.array(z.string().max(256)).max(1000);
const universeSchema = z.object({
  registered: z
    .array(
      z.union([
        z.string().max(256),
        z.object({
          name: z.string().max(256),
          group: z.string().max(64).optional(),
          mcp_server: z.string().max(64).optional(),
          aliases: listSchema.optional(),
          read_only: z.boolean().optional(),
        }),
      ]),
    )
    .max(2000)
    .optional(),
  groups: z.record(z.string().max(64), listSchema).optional(),
  profiles: z.record(z.string().max(64), listSchema.nullable()).optional(),
});

function withConfig(
  base: Omit<ExplainScope, 'universe'>,
  config: Readonly<Record<string, unknown>>,
): ExplainScope {
  if (!PLACES.some((place) => Object.hasOwn(config, place))) return { ...base, settings: settingsOf(config) };
  const universe = universeOf(config);
  const policy = (place: string): ToolPolicy | undefined => {
    const input = config[place];
    if (input === undefined) return undefined;
    // A case's own groups and profiles are not checked.
    return universe ? (policyWords(input) as ToolPolicy) : read(toolPolicySchema, input, place);
  };
  const list = (place: string): readonly string[] | undefined => {
    const input = config[place];
    return input === undefined || input === null ? undefined : read(listSchema, input, place);
  };
  const agentTools = policy('agent');
  const leaf = config['subagent'] === 'leaf';
  const isSubagent = leaf || Boolean(config['subagent']);
  return {
    ...base,
    settings: { tools: policy('global') ?? {} },
    tenant_policy: { tools: policy('tenant') },
    agent: agentTools ? { ...base.agent, tools: agentTools } : base.agent,
    context: {
      ...base.context,
      group: list('group') ?? base.context.group,
      within: list('within') ?? base.context.within,
      allowed_tools: list('request') ?? base.context.allowed_tools,
      subagent: isSubagent ? { depth: 1, leaf } : base.context.subagent,
    },
    universe,
  };
}

/** `{tools, exec}` as in `tempoclaw.yaml`, or a tool policy alone. */
function settingsOf(config: Readonly<Record<string, unknown>>): RuleSettings {
  const isWhole = Object.hasOwn(config, 'tools') || Object.hasOwn(config, 'exec');
  if (!isWhole) return { tools: read(toolPolicySchema, config, 'config') };
  const tools = (config['tools'] ?? {}) as Record<string, unknown>;
  return {
    tools: read(toolPolicySchema, toolPolicyOf(tools), 'config.tools'),
    exec: read(sharedExecPolicySchema, config['exec'] ?? {}, 'config.exec'),
  };
}

function universeOf(config: Readonly<Record<string, unknown>>): ExplainScope['universe'] {
  const { registered, groups = {}, profiles } = read(universeSchema, config, 'config');
  if (!registered) return undefined;
  const tools = registered.map((tool): PolicyTool => {
    if (typeof tool !== 'string') {
      const { mcp_server, aliases, read_only, ...rest } = tool;
      return { ...rest, mcpServer: mcp_server, aliases, readOnly: read_only };
    }
    const group = Object.entries(groups).find(([, members]) => members.includes(tool))?.[0];
    return policyToolNamed(tool, group);
  });
  return { tools, profiles };
}

/** What a name alone determines: `mcp_{server}__{tool}` is a tool of that server (MC-2). */
export function policyToolNamed(name: string, group?: string): PolicyTool {
  const server = group?.startsWith('mcp:') ? group.slice(4) : /^mcp_(.+?)__/.exec(name)?.[1];
  return server === undefined ? { name, group: group ?? 'other' } : { name, mcpServer: server };
}

function policyWords(input: unknown): unknown {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
  const { alsoAllow, byProvider, ...rest } = input as Readonly<Record<string, unknown>>;
  return { also_allow: alsoAllow, by_provider: byProvider, ...rest };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function read<Schema extends z.ZodType>(schema: Schema, input: unknown, where: string): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Failure(
    'InvalidInput',
    `${[where, ...(issue?.path ?? [])].map(String).join('.')}: ${issue?.message ?? 'is wrong'}`,
  );
}
