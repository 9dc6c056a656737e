/**
 * What the tool `heartbeat` does: it manages the heartbeat of the calling agent and its user, with no more rights than
 * the caller's turn has.
 */
import { mayWriteInTurn } from '#domain/files/document.ts';
import { Failure } from '#domain/errors.ts';
import { CHECKLIST } from '../contract/heartbeat.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { writeDocument } from '#store/files/document-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { type ListedRun, listRuns } from '../store/schedule-run-store.ts';
import { findHeartbeat, type ScheduleRow } from '../store/schedule-store.ts';
import {
  type HeartbeatChange,
  type HeartbeatParts,
  readChecklist,
  setHeartbeat,
} from '../temporal/heartbeats.ts';
import { nextRuns, type Schedules } from '../temporal/schedules.ts';
import { readRuns, rightsOf } from './own-schedules.ts';

export type OwnHeartbeat = ScheduleRow & { readonly next_runs: readonly string[] };

/** Throws Failures whose words are for the model. */
export interface OwnHeartbeats {
  find(call: RunningCall): Promise<OwnHeartbeat | undefined>;
  /** A new one posts in the caller's session, and so does one that is set from another chat. */
  set(call: RunningCall, change: HeartbeatChange): Promise<OwnHeartbeat>;
  runNow(call: RunningCall, heartbeat: ScheduleRow): Promise<void>;
  /** Returns the newest first. */
  runs(call: RunningCall, heartbeat: ScheduleRow, max: number): Promise<readonly ListedRun[]>;
  checklist(call: RunningCall): ReturnType<typeof readChecklist>;
  /** Safe to repeat. */
  writeChecklist(call: RunningCall, text: string): Promise<void>;
}

export function createOwnHeartbeats(
  parts: HeartbeatParts & { readonly schedules: Schedules },
): OwnHeartbeats {
  const { pool, schedules } = parts;
  return {
    async find({ tenant, agent, user, origins }) {
      const row = await findHeartbeat(forTenant(pool, tenant), agent, user);
      if (row?.rights.session !== undefined) await origins?.readSessions([row.rights.session]);
      return row && { ...row, next_runs: nextRuns(row) };
    },
    async set(call, change) {
      const { tenant, agent, user, callId } = call;
      const maker = { tenant, agent, user, by: `agent:${agent}`, rights: await rightsOf(call), stem: callId };
      const row = await setHeartbeat(parts, maker, change, call.sessionKey);
      return { ...row, next_runs: nextRuns(row) };
    },
    async runNow(call, heartbeat) {
      await schedules.runNow(heartbeat, call.tenant, call.callId);
    },
    runs: async (call, { id }, max) =>
      readRuns(call, await listRuns(forTenant(pool, call.tenant), id, max, undefined)),
    checklist: ({ tenant, agent, user }) => readChecklist(forTenant(pool, tenant), agent, user),
    async writeChecklist({ documents, callId }, text) {
      if (!documents) throw new Failure('Unprocessable', `there is no ${CHECKLIST} here`);
      const { type = 'open', author, hide } = documents;
      if (!mayWriteInTurn(type, CHECKLIST))
        throw new Failure('Unprocessable', `${CHECKLIST} is the agent’s, which no turn changes`);
      const read = documents.outside();
      await writeDocument(pool, documents, {
        path: CHECKLIST,
        author,
        call: callId,
        outside: Object.keys(read).length > 0,
        read,
        by: () => hide(text),
      });
    },
  };
}
