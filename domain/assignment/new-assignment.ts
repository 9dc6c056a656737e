/**
 * Whether there is a free slot for an assignment, and the contents of its row. Pure: the store counts the used slots
 * under a lock.
 */
import type { AssignmentStatus } from './assignment.ts';
import type { AssignmentMode } from './delegation.ts';
import type { QualityGate } from '../gate/gate.ts';
import { type AssignmentKind, assignmentSession } from '../ids.ts';
import type { AnnounceMode } from './subagent.ts';
import type { Thinking } from '../model/thinking.ts';
import type { MessageContext } from '../turn/turn.ts';

/**
 * Number of queued or running assignments of the tenant and kind: in total, of the session, over the link, and for the
 * target.
 */
export interface PlacesInUse {
  readonly all: number;
  readonly ofSession: number;
  readonly onLink: number;
  /** Greatest number over the link at once; 0 means no limit. */
  readonly maxOnLink: number;
  readonly ofTarget: number;
}

export interface LimitMet {
  readonly kind: 'refused';
  readonly limit: 'depth' | 'concurrent' | 'children' | 'link' | 'target';
  readonly have: number;
  readonly max: number;
}

/** The turn that gives the work. */
export interface Origin {
  readonly session: string;
  readonly turn: string;
  readonly call: string;
  readonly agent: string;
  readonly context: MessageContext;
}

/** A task of a team's board while delegated work is it. */
export interface LinkedTask {
  readonly team: string;
  /** Absent until it is created. */
  readonly number?: number;
  /** Fence of the work's lease. Absent until it has the task. */
  readonly fence?: number;
  /** It was created for the work. */
  readonly created?: true;
}

/** The first contents of a row; the store adds the time. */
export interface NewAssignment {
  readonly id: string;
  readonly kind: AssignmentKind;
  readonly origin_session: string;
  readonly origin_turn: string;
  readonly origin_call: string;
  readonly link_id: string | null;
  readonly source_key: string;
  readonly target_key: string;
  readonly session_key: string;
  readonly depth: number;
  readonly user_id: string | null;
  readonly label: string;
  readonly task: string;
  readonly mode: AssignmentMode;
  readonly announce: AnnounceMode;
  /** The work continues when the origin's session is stopped. */
  readonly detached: boolean;
  readonly timeout_seconds: number;
  /** Context of the origin turn, for the message that announces the end. */
  readonly context: MessageContext;
  /** Context that binds the turns of its session. */
  readonly bound: Pick<MessageContext, 'within' | 'subagent' | 'delegation'>;
  readonly gates: readonly QualityGate[];
  readonly details: EvaluationDetails | null;
  /** The task of a team's board that the work is. */
  readonly linked_task: LinkedTask | null;
  readonly status: AssignmentStatus;
  /** Id of the workflow that waits for its end. */
  readonly waiter: string | null;
}

export interface EvaluationDetails {
  readonly evaluator: string;
  readonly criteria: string | undefined;
  readonly context: string | undefined;
  readonly max_rounds: number;
}

interface Request {
  readonly id: string;
  readonly label: string;
  readonly task: string;
}

export interface SubagentRequest extends Request {
  readonly model: string | undefined;
  readonly thinking: Thinking | undefined;
  readonly mode: AssignmentMode;
  readonly announce: AnnounceMode;
  readonly detached: boolean;
  readonly timeout_seconds: number;
  /** Names of the parent's tools. */
  readonly within: readonly string[];
}

export interface SpawnLimits {
  readonly depth: number;
  readonly concurrent: number;
  readonly children: number;
  readonly iterations: number;
}

/** Checks and creates a subagent's assignment (SA-1). */
export function newSubagent(
  origin: Origin,
  request: SubagentRequest,
  inUse: PlacesInUse,
  limits: SpawnLimits,
): NewAssignment | LimitMet {
  const parent = origin.context.subagent;
  const depth = parent?.depth ?? 0;
  const met =
    limitMet('depth', depth, limits.depth) ??
    limitMet('concurrent', inUse.all, limits.concurrent) ??
    limitMet('children', inUse.ofSession, limits.children);
  if (met) return met;
  const { id, label, model = parent?.model, thinking = parent?.thinking } = request;
  return {
    ...rowOf('subagent', origin, request),
    target_key: origin.agent,
    depth: depth + 1,
    mode: request.mode,
    announce: request.announce,
    detached: request.detached,
    timeout_seconds: request.timeout_seconds,
    bound: {
      within: request.within,
      subagent: {
        id,
        label,
        session: origin.session,
        root: parent?.root ?? origin.session,
        depth: depth + 1,
        leaf: depth + 1 >= limits.depth,
        model,
        iterations: limits.iterations,
        thinking,
      },
    },
  };
}

export interface DelegationRequest extends Request {
  readonly link: string;
  readonly target: string;
  /** Greatest number of delegations that the target works on at once. */
  readonly load: number;
  readonly mode: AssignmentMode;
  readonly timeout_seconds: number;
  readonly gates: readonly QualityGate[];
  readonly linked_task: LinkedTask | undefined;
}

/** Checks and creates a delegation (DE-1). */
export function newDelegation(
  origin: Origin,
  request: DelegationRequest,
  inUse: PlacesInUse,
  maxDepth: number,
): NewAssignment | LimitMet {
  const { delegation, team } = origin.context;
  const depth = delegation?.depth ?? 0;
  const met =
    limitMet('depth', depth, maxDepth) ??
    (inUse.maxOnLink > 0 ? limitMet('link', inUse.onLink, inUse.maxOnLink) : undefined) ??
    limitMet('target', inUse.ofTarget, request.load);
  if (met) return met;
  const { id, label } = request;
  // Work within a judgement is not judged itself.
  const ungated = delegation?.ungated ?? team?.ungated;
  return {
    ...rowOf('delegation', origin, request),
    link_id: request.link,
    target_key: request.target,
    depth: depth + 1,
    mode: request.mode,
    timeout_seconds: request.timeout_seconds,
    bound: {
      delegation: {
        id,
        label,
        from: origin.agent,
        depth: depth + 1,
        session: origin.session,
        turn: origin.turn,
        ungated,
      },
    },
    gates: ungated ? [] : request.gates,
    linked_task: request.linked_task ?? null,
  };
}

/** A turn waits for the work unless the request says otherwise. */
export function rowOf(
  kind: AssignmentKind,
  origin: Origin,
  { id, label, task }: Request,
): Omit<NewAssignment, 'target_key' | 'depth'> {
  return {
    id,
    kind,
    origin_session: origin.session,
    origin_turn: origin.turn,
    origin_call: origin.call,
    link_id: null,
    source_key: origin.agent,
    session_key: assignmentSession(kind, id),
    user_id: origin.context.user ?? null,
    label,
    task,
    mode: 'sync',
    announce: 'queue',
    detached: false,
    timeout_seconds: 0,
    context: origin.context,
    bound: {},
    gates: [],
    details: null,
    linked_task: null,
    status: 'queued',
    waiter: null,
  };
}

export function limitMet(limit: LimitMet['limit'], have: number, max: number): LimitMet | undefined {
  return have < max ? undefined : { kind: 'refused', limit, have, max };
}

/** The initial row of the replacement of a subagent: it has the slot, rights and depth of the old one. */
export function replacementOf(
  old: NewAssignment,
  next: { readonly id: string; readonly label: string; readonly task: string },
): NewAssignment {
  const { id, label } = next;
  const origin = {
    session: old.origin_session,
    turn: old.origin_turn,
    call: old.origin_call,
    agent: old.source_key,
    context: old.context,
  };
  return {
    ...rowOf('subagent', origin, next),
    target_key: old.target_key,
    depth: old.depth,
    mode: old.mode,
    announce: old.announce,
    detached: old.detached,
    timeout_seconds: old.timeout_seconds,
    bound: { ...old.bound, subagent: old.bound.subagent && { ...old.bound.subagent, id, label } },
    waiter: old.waiter,
  };
}

/**
 * The context that a turn passes to work that it gives away: the user, and what the request allows, but not what bound
 * it to one agent.
 */
export function workContext(context: MessageContext): MessageContext {
  const {
    agent: _agent,
    subagent: _subagent,
    within: _within,
    delegation: _delegation,
    team: _team,
    client_tools: _clientTools,
    ...rest
  } = context;
  return rest;
}

/** The same for a subagent, whose tools are limited to its parent's. */
export function subagentContext({
  allowed_tools: _allowed,
  client_tools: _clientTools,
  ...context
}: MessageContext): MessageContext {
  return context;
}
