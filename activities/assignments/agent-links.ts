/** Which agents an agent may delegate to (DE-1, DE-3): over its links, if their settings permit the caller's user. */
import { LINK_WORDS, linkLeads } from '#domain/assignment/agent-link.ts';
import { refuseUser } from '#domain/link-user.ts';
import type { AgentConfig } from '#domain/agent.ts';
import { loadOf } from '#domain/assignment/delegation.ts';
import { delegationGuide, type DelegationTarget } from '#domain/assignment/delegation-words.ts';
import { gatesFor, type QualityGate } from '#domain/gate/gate.ts';
import { rankAgents, searchedText } from '#domain/assignment/rank-agents.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { linkedAgents, linksBetween } from '#store/assignments/agent-link-store.ts';
import { findAgent } from '#store/agent-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { ActivityDeps } from '../activity-deps.ts';
import type { Embed } from '../model/embed.ts';

type Caller = Pick<RunningCall, 'tenant' | 'agent' | 'user' | 'roles'>;

/** The error code and the text for the model. */
export interface Refused {
  readonly kind: 'refused';
  readonly code: 'NotFound' | 'PermissionDenied' | 'RateLimited' | 'InvalidArgs' | 'Cancelled';
  readonly message: string;
}

/** The link over which the caller may delegate to the target, and the target's own description. */
export interface Way {
  readonly kind: 'way';
  readonly link: string;
  readonly agent: AgentConfig;
  readonly load: number;
  readonly gates: readonly QualityGate[];
}

/** Every method is within the caller's tenant. */
export interface AgentLinks {
  wayTo(
    caller: Caller,
    target: string,
  ): Promise<Way | (Refused & { readonly code: 'NotFound' | 'PermissionDenied' })>;
  /** The agents that the caller may delegate to, best match first. */
  search(
    caller: Caller & Pick<RunningCall, 'sessionKey' | 'turnId'>,
    query: string,
    max: number,
  ): Promise<readonly (DelegationTarget & { readonly score: number })[]>;
  /** DELEGATION.md of the caller's prompt; undefined when there is no agent to delegate to. */
  guide(caller: Caller): Promise<string | undefined>;
}

/** Greatest number of linked agents that are searched. */
const MAX_TARGETS = 1_000;

export type AgentLinkDeps = Pick<ActivityDeps, 'pool' | 'scrubberOf'> & { readonly embed: Embed };

export function createAgentLinks({ pool, scrubberOf, embed }: AgentLinkDeps): AgentLinks {
  const targetsOf = async (caller: Caller, query?: string) => {
    const linked = await linkedAgents(forTenant(pool, caller.tenant), caller.agent, MAX_TARGETS, query);
    return linked.filter(({ key, link }) => refuseUser(link, key, caller) === undefined);
  };

  return {
    async wayTo(caller, target) {
      const db = forTenant(pool, caller.tenant);
      const agent = await findAgent(db, target);
      if (!agent) return refused('NotFound', LINK_WORDS.noTarget(target));
      const links = await linksBetween(db, caller.agent, target);
      const leading = links.filter((link) => linkLeads(link, caller.agent, target));
      const refusals = leading.map((link) => refuseUser(link, target, caller));
      const open = leading.find((_, index) => refusals[index] === undefined);
      if (!open) return refused('PermissionDenied', refusals[0] ?? LINK_WORDS.noLink(target));
      // In GoClaw the giver's row has the gates of a delegation; here the target may have some too.
      const source = await findAgent(db, caller.agent);
      return {
        kind: 'way',
        link: open.id,
        agent: agent.config,
        load: loadOf(agent.config.max_delegation_load),
        gates: [source, agent].flatMap((one) => gatesFor(one?.config.quality_gates, 'delegation.completed')),
      };
    },

    async search(caller, query, max) {
      const targets = await targetsOf(caller, query);
      if (targets.length === 0) return [];
      const place = { session: caller.sessionKey, turn: caller.turnId };
      const scrubber = await scrubberOf(caller.tenant);
      const texts = [query, ...targets.map(searchedText)].map(scrubber.text);
      const [expected, ...agents] = (await embed(caller.tenant, place, texts)) ?? [];
      return rankAgents(targets, query, max, expected && { query: expected, agents });
    },

    async guide(caller) {
      const targets = await targetsOf(caller);
      return delegationGuide(targets, targets.length);
    },
  };
}

export function refused<Code extends Refused['code']>(code: Code, message: string) {
  return { kind: 'refused' as const, code, message };
}
