/**
 * What the tool `delegate` does beyond its words (DE-1, DE-2): asks the links, takes a place, finds the caller's own
 * delegations, and reaches their workflows. Every method is within the caller's tenant, and `find` within its agent.
 */
import { createHash } from 'node:crypto';
import { LINK_WORDS, linkLeads, refuseUser } from '#domain/agent-link.ts';
import type { AgentConfig } from '#domain/agent.ts';
import {
  DELEGATION,
  DELEGATION_LIMITS,
  type DelegationMode,
  loadOf,
  type StopDelegationInput,
} from '#domain/delegation.ts';
import { delegatedTask, delegationGuide, type DelegationTarget } from '#domain/delegation-words.ts';
import { gatesFor } from '#domain/gate.ts';
import { delegationWorkflowId } from '#domain/ids.ts';
import { rankAgents, searchedText } from '#domain/rank-agents.ts';
import type { ChildStart } from '#domain/turn.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { delegationInput } from '#temporal/assignment-inputs.ts';
import { type Dependency, readDependencyFiles } from './dependency-files.ts';
import type { LostKind } from '#temporal/lost-work.ts';
import { type PassedFile, passedPath, writePassedFiles } from './pass-files.ts';
import type { Embed } from '../model/embed.ts';
import type { ScrubberOf } from '#store/secrets/scrubber.ts';
import { linkedAgents, linksBetween } from '#store/agent-link-store.ts';
import { findAgent } from '#store/agent-store.ts';
import type {
  DelegationFilter,
  DelegationRow,
  DelegationStore,
  NewDelegation,
  TakenDelegation,
} from '#store/delegation-store.ts';
import type { Pool } from '#store/pool.ts';
import type { Files } from '../workspace/files.ts';

export interface DelegationRequest {
  readonly target: string;
  readonly task: string;
  readonly label: string;
  readonly context?: string;
  readonly mode: DelegationMode;
  readonly seconds: number;
  /** Own delegations whose results go with the task. */
  readonly dependsOn: readonly string[];
  readonly files: readonly PassedFile[];
}

export type Given =
  | { readonly kind: 'given'; readonly row: DelegationRow; readonly child: ChildStart }
  /** `code` and words for the model. */
  | {
      readonly kind: 'refused';
      readonly code: 'NotFound' | 'PermissionDenied' | 'RateLimited' | 'InvalidArgs';
      readonly message: string;
    };

type Caller = Pick<RunningCall, 'tenant' | 'agent' | 'user' | 'roles' | 'sessionKey' | 'turnId' | 'callId'>;

export interface DelegationDesk {
  /** Undefined when the caller may give the agent work; else why not. */
  mayGive(
    call: Caller,
    target: string,
  ): Promise<{ readonly code: 'NotFound' | 'PermissionDenied'; readonly message: string } | undefined>;
  /** Runs again safely: a call gives one piece of work. */
  give(call: Caller, request: DelegationRequest): Promise<Given>;
  /** Of the agents that the caller may give work to, best first. */
  search(
    caller: Omit<Caller, 'callId'>,
    query: string,
    most: number,
  ): Promise<readonly (DelegationTarget & { readonly score: number })[]>;
  /** DELEGATION.md of the caller's prompt; undefined when nobody is there to give work to. */
  guide(caller: Pick<Caller, 'tenant' | 'agent' | 'user' | 'roles'>): Promise<string | undefined>;
  /** Of the caller's agent and user, newest first. */
  page(
    caller: Pick<Caller, 'tenant' | 'agent' | 'user'>,
    filter: Pick<DelegationFilter, 'target' | 'status' | 'session'>,
    limit: number,
    after: readonly [string, string] | undefined,
  ): Promise<readonly DelegationRow[]>;
  /** Only what the caller's agent gave, for the same user. */
  find(caller: Pick<Caller, 'tenant' | 'agent' | 'user'>, id: string): Promise<DelegationRow | undefined>;
  /** Without a message of its own to the caller, who knows. False when it has ended. */
  stop(caller: Pick<Caller, 'tenant' | 'callId'>, row: DelegationRow): Promise<boolean>;
  /** Ends all that a session gave away that was stopped. */
  stopAll(tenant: string, session: string, by: string): Promise<void>;
}

export interface DelegationDeskDeps {
  readonly pool: Pool;
  readonly delegations: DelegationStore;
  readonly scrubberOf: ScrubberOf;
  readonly reach: WorkflowReach;
  readonly files: Pick<Files, 'change' | 'readBytes' | 'list'>;
  readonly workspaceOf: (tenant: string, workspace: string) => string;
  /** Finds those whose workflow was ended from outside. */
  readonly lost: LostKind<DelegationRow>;
  readonly embed: Embed;
}

export function createDelegationDesk(deps: DelegationDeskDeps): DelegationDesk {
  const { delegations, lost } = deps;

  async function stopOne(
    tenant: string,
    row: DelegationRow,
    stop: StopDelegationInput & { readonly by: string; readonly silent: boolean },
  ): Promise<boolean> {
    if (!(await delegations.markStopped(tenant, row.id, stop.by, stop.silent))) return false;
    if (!(await deps.reach.signal(delegationWorkflowId(row.id), DELEGATION.signals.stop, stop)))
      await lost.current(tenant, row);
    return true;
  }

  return {
    async mayGive(call, target) {
      const way = await findWay(deps, call, target);
      return way.kind === 'refused' ? { code: way.code, message: way.message } : undefined;
    },

    async give(call, request) {
      const way = await findWay(deps, call, request.target);
      if (way.kind === 'refused') return way;
      const dependencies = await resultsOf(deps, call, request.dependsOn);
      if (typeof dependencies === 'string') return refused('InvalidArgs', dependencies);
      const theirs = await readDependencyFiles(deps.files, dependencies, request.files);
      const files = [...request.files, ...theirs.read];
      const scrubber = await deps.scrubberOf(call.tenant);
      const task = scrubber.text(request.task);
      const id = delegationIdOf(call.tenant, call.callId);
      const work: NewDelegation = {
        id,
        session: call.sessionKey,
        turn: call.turnId,
        call: call.callId,
        link: way.link,
        target: request.target,
        load: way.load,
        label: scrubber.preview(request.label, LABEL),
        task,
        text: delegatedTask({
          from: call.agent,
          task,
          context: request.context === undefined ? undefined : scrubber.text(request.context),
          dependencies,
          files: files.map((file) => passedPath(id, file)),
          leftOut: theirs.leftOut,
        }),
        mode: request.mode,
        timeout_seconds: request.seconds,
        gates: way.gates,
      };
      let taken = await delegations.take(call.tenant, work, DELEGATION_LIMITS.depth);
      if (taken.kind === 'refused' && taken.limit !== 'depth' && (await lost.sweep(call.tenant)) > 0)
        taken = await delegations.take(call.tenant, work, DELEGATION_LIMITS.depth);
      if (taken.kind !== 'taken') return whyNotTaken(taken, request.target);
      const target = { workspace: deps.workspaceOf(call.tenant, way.workspace), delegationId: id };
      await writePassedFiles(deps.files, scrubber, target, files);
      return { kind: 'given', row: taken.row, child: childStart(call.tenant, taken.row, scrubber.text) };
    },

    async search(caller, query, most) {
      const targets = await targetsOf(deps, caller, query);
      if (targets.length === 0) return [];
      const place = { session: caller.sessionKey, turn: caller.turnId };
      const scrubber = await deps.scrubberOf(caller.tenant);
      const texts = [query, ...targets.map(searchedText)].map(scrubber.text);
      const [wanted, ...agents] = (await deps.embed(caller.tenant, place, texts)) ?? [];
      return rankAgents(targets, query, most, wanted && { query: wanted, agents });
    },

    async guide(caller) {
      const targets = await targetsOf(deps, caller);
      return delegationGuide(targets, targets.length);
    },

    async page({ tenant, agent, user }, filter, limit, after) {
      const own = { ...filter, source: agent, user: user ?? undefined };
      return lost.currents(tenant, await delegations.page(tenant, own, limit, after));
    },

    async find({ tenant, agent, user }, id) {
      const row = await delegations.find(tenant, id);
      return row?.source_key === agent && row.user_id === user ? lost.current(tenant, row) : undefined;
    },

    stop: ({ tenant, callId }, row) => stopOne(tenant, row, { by: callId, silent: true }),

    async stopAll(tenant, session, by) {
      const reason = 'the session that gave the work was stopped';
      const open = await delegations.active(tenant, session);
      await Promise.all(open.map((row) => stopOne(tenant, row, { by, reason, silent: true })));
    },
  };
}

const LABEL = 100;

/** Agents that one may be linked to and still be found. */
const MOST_TARGETS = 1_000;

async function targetsOf(
  deps: DelegationDeskDeps,
  caller: Pick<Caller, 'tenant' | 'agent' | 'user' | 'roles'>,
  query?: string,
) {
  const linked = await linkedAgents(deps.pool, caller.tenant, caller.agent, MOST_TARGETS, query);
  return linked.filter(({ key, link }) => refuseUser(link, key, caller) === undefined);
}

type RefusalCode = Extract<Given, { kind: 'refused' }>['code'];

function refused<Code extends RefusalCode>(code: Code, message: string) {
  return { kind: 'refused' as const, code, message };
}

/** The link over which the caller may give work to the target, and what the target says of itself. */
async function findWay(deps: DelegationDeskDeps, call: Caller, target: string) {
  const agent = await findAgent(deps.pool, call.tenant, target);
  if (!agent) return refused('NotFound', LINK_WORDS.noTarget(target));
  const links = await linksBetween(deps.pool, call.tenant, call.agent, target);
  const leading = links.filter((link) => linkLeads(link, call.agent, target));
  if (leading.length === 0) return refused('PermissionDenied', LINK_WORDS.noLink(target));
  const refusals = leading.map((link) => refuseUser(link, target, call));
  const open = leading.find((_, index) => refusals[index] === undefined);
  if (!open) return refused('PermissionDenied', refusals[0] ?? LINK_WORDS.noLink(target));
  return {
    kind: 'way' as const,
    link: open.id,
    workspace: folderOf(agent),
    load: loadOf(agent.config.max_delegation_load),
    gates: gatesFor(agent.config.quality_gates, 'delegation.completed'),
  };
}

function folderOf({ config }: { readonly config: Pick<AgentConfig, 'workspace' | 'key'> }): string {
  return config.workspace ?? config.key;
}

/** Text when one of them is not there. */
async function resultsOf(
  deps: DelegationDeskDeps,
  call: Caller,
  ids: readonly string[],
): Promise<readonly (Dependency & { readonly label: string })[] | string> {
  const rows = await Promise.all(ids.map((id) => deps.delegations.find(call.tenant, id)));
  const results: (Dependency & { readonly label: string })[] = [];
  for (const [index, row] of rows.entries()) {
    if (!row || row.source_key !== call.agent || row.user_id !== call.user)
      return `depends_on: delegation "${ids[index]}" not found`;
    if (row.status !== 'completed')
      return `depends_on: delegation "${row.id}" has no result (status=${row.status})`;
    const { id, label, result } = row;
    const agent = await findAgent(deps.pool, call.tenant, row.target_key);
    const workspace = agent && deps.workspaceOf(call.tenant, folderOf(agent));
    results.push({ id, label, result: result ?? '', workspace });
  }
  return results;
}

function whyNotTaken(taken: Exclude<TakenDelegation, { kind: 'taken' }>, target: string): Given {
  if (taken.kind === 'gone') return refused('PermissionDenied', LINK_WORDS.noLink(target));
  const { limit, have, most } = taken;
  switch (limit) {
    case 'depth':
      return refused('PermissionDenied', `delegation depth limit reached (${have}/${most})`);
    case 'link':
      return refused('RateLimited', LINK_WORDS.linkFull(target, have, most));
    default:
      return refused('RateLimited', LINK_WORDS.agentFull(target, have, most));
  }
}

/** Of the call that gives it, so that a call which runs twice gives it once. */
function delegationIdOf(tenant: string, callId: string): string {
  return `del-${createHash('sha256').update(`${tenant}\n${callId}`).digest('hex').slice(0, 16)}`;
}

function childStart(tenant: string, row: DelegationRow, hide: (text: string) => string): ChildStart {
  return {
    type: DELEGATION.type,
    id: delegationWorkflowId(row.id),
    input: { ...delegationInput(tenant, row, hide) },
    wait: row.mode === 'sync',
    labels: {
      tenant,
      session: row.session_key,
      agent: row.target_key,
      user: row.user_id ?? undefined,
    },
  };
}
