/**
 * What the tool `spawn` does beyond its words: takes a place, finds the caller's own subagents, and reaches their workflows.
 * Every method is within the caller's tenant and session, so that nobody reaches another one's subagents.
 */
import { createHash } from 'node:crypto';
import { Failure } from '#domain/errors.ts';
import { sessionWorkflowId, subagentMessageId, subagentWorkflowId, turnIdOf } from '#domain/ids.ts';
import {
  type AnnounceMode,
  type SteerSubagentInput,
  type SteerSubagentReceipt,
  SUBAGENT,
} from '#domain/subagent.ts';
import type { Thinking } from '#domain/thinking.ts';
import type { ChildStart, SessionStart } from '#domain/turn.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { stopSubagent, stopSubagents } from '#temporal/stop-subagents.ts';
import type { LostKind } from '#temporal/lost-work.ts';
import type { ScrubberOf } from '#store/secrets/scrubber.ts';
import type { SpawnedRow, SpawnLimits, SubagentRow, SubagentStore } from '#store/subagent-store.ts';
import { subagentInput } from '#temporal/assignment-inputs.ts';

export interface SpawnRequest {
  readonly task: string;
  readonly label: string;
  readonly model?: string;
  readonly thinking?: Thinking;
  readonly waits: boolean;
  readonly announce: AnnounceMode;
  readonly detached: boolean;
  readonly seconds?: number;
}

export type Spawned =
  | { readonly kind: 'spawned'; readonly row: SubagentRow; readonly child: ChildStart }
  | (Extract<SpawnedRow, { kind: 'refused' }> & { readonly running: readonly SubagentRow[] })
  | { readonly kind: 'unknown_model'; readonly message: string }
  | { readonly kind: 'over' };

type Caller = Pick<RunningCall, 'tenant' | 'sessionKey' | 'callId'>;

export interface SubagentDesk {
  readonly limits: SpawnLimits & { readonly archiveMinutes: number };
  /** Runs again safely: a call starts one subagent. */
  spawn(
    call: Pick<RunningCall, 'tenant' | 'sessionKey' | 'turnId' | 'callId' | 'toolsGiven'>,
    request: SpawnRequest,
  ): Promise<Spawned>;
  /** The caller's own that are not archived, newest first. */
  list(caller: Caller): Promise<readonly SubagentRow[]>;
  /** The caller's own, archived or not. */
  find(caller: Caller, id: string): Promise<SubagentRow | undefined>;
  /** Without a message of its own to the caller, who knows. */
  stop(caller: Caller, row: SubagentRow): Promise<void>;
  /** Ends all of a session that was stopped, but those that were started detached. */
  stopAll(tenant: string, session: string, by: string): Promise<void>;
  /** False when it ended first. */
  steer(caller: Caller, row: SubagentRow, message: string): Promise<boolean>;
}

export interface SubagentDeskDeps {
  readonly subagents: SubagentStore;
  readonly scrubberOf: ScrubberOf;
  readonly reach: WorkflowReach;
  /** Undefined when there is such a model; else why not. */
  readonly modelProblem: (ref: string) => string | undefined;
  readonly limits: SubagentDesk['limits'] & { readonly timeoutSeconds: number; readonly model?: string };
  /** Finds those whose workflow was ended from outside. */
  readonly lost: LostKind<SubagentRow>;
}

export function createSubagentDesk(deps: SubagentDeskDeps): SubagentDesk {
  const { subagents, limits, reach, lost } = deps;

  return {
    limits,
    async spawn(call, request) {
      const model = request.model ?? limits.model;
      const problem = model === undefined ? undefined : deps.modelProblem(model);
      if (problem !== undefined) return { kind: 'unknown_model', message: problem };
      const scrubber = await deps.scrubberOf(call.tenant);
      const child = {
        id: subagentIdOf(call.tenant, call.callId),
        session: call.sessionKey,
        turn: call.turnId,
        call: call.callId,
        label: scrubber.preview(request.label, LABEL),
        task: scrubber.text(request.task),
        model,
        thinking: request.thinking,
        mode: request.waits ? ('sync' as const) : ('async' as const),
        announce: request.announce,
        detached: request.detached,
        timeout_seconds: request.seconds ?? limits.timeoutSeconds,
        within: await call.toolsGiven(),
      };
      let spawned = await subagents.spawn(call.tenant, child, limits);
      if (spawned.kind === 'refused' && spawned.limit !== 'depth' && (await lost.sweep(call.tenant)) > 0)
        spawned = await subagents.spawn(call.tenant, child, limits);
      if (spawned.kind === 'refused') return { ...spawned, running: await subagents.active(call.tenant) };
      if (spawned.kind === 'over') return spawned;
      return { ...spawned, child: childStart(call.tenant, spawned.row, model === undefined) };
    },

    list: async ({ tenant, sessionKey }) =>
      lost.currents(tenant, await subagents.list(tenant, sessionKey, limits.archiveMinutes)),

    async find({ tenant, sessionKey }, id) {
      const row = await subagents.find(tenant, id);
      return row?.parent_session === sessionKey ? lost.current(tenant, row) : undefined;
    },

    async stop({ tenant, callId }, row) {
      await stopSubagent(deps, tenant, row, { by: callId, silent: true });
    },

    async stopAll(tenant, session, by) {
      await stopSubagents(deps, tenant, session, by);
    },

    async steer({ tenant, callId }, row, message) {
      const input: SteerSubagentInput = {
        message: (await deps.scrubberOf(tenant)).text(message),
        by: callId,
      };
      try {
        const receipt = await reach.update<SteerSubagentReceipt>(
          subagentWorkflowId(row.id),
          SUBAGENT.updates.steer,
          input,
          callId,
        );
        return receipt !== undefined;
      } catch (error) {
        if (error instanceof Failure && error.type === 'Conflict') return false;
        throw error;
      }
    },
  };
}

const LABEL = 100;

/** Of the call that starts it, so that a call which runs twice starts one. */
function subagentIdOf(tenant: string, callId: string): string {
  return `sub-${createHash('sha256').update(`${tenant}\n${callId}`).digest('hex').slice(0, 16)}`;
}

function childStart(tenant: string, row: SubagentRow, sameModel: boolean): ChildStart {
  const wait = row.mode === 'sync';
  const labels = {
    tenant,
    session: row.session_key,
    agent: row.agent_key,
    user: row.user_id ?? undefined,
  };
  const input = subagentInput(tenant, row);
  const start = { type: SUBAGENT.type, id: subagentWorkflowId(row.id), wait, labels };
  if (wait) return { ...start, input: { ...input } };
  return {
    ...start,
    input: { ...input, session_beside: true },
    session: { ...sessionStart(tenant, row), labels, ...(sameModel ? { sameModel } : {}) },
  };
}

function sessionStart(tenant: string, row: SubagentRow): Omit<SessionStart, 'labels'> {
  const message = subagentMessageId(row.id);
  const turn = { turnId: turnIdOf(message), messages: [{ id: message }], preview: row.label };
  return {
    id: sessionWorkflowId(tenant, row.session_key),
    input: {
      tenant,
      session_key: row.session_key,
      carry: { queue: [turn], seen: [[message, turn.turnId]] },
      tells: row.id,
    },
    summary: `${row.agent_key}: ${row.label}`,
  };
}
