/** A step of a replay, and what the recording has there. */
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import type { RecordedStep, RecordedTurn, Recording } from './schema.ts';
import type { ReplayRow } from './store.ts';

export interface Place {
  readonly db: TenantDb;
  readonly replay: ReplayRow;
  readonly recording: Recording;
  /** The session that replays. */
  readonly session: string;
  /** Of that session. */
  readonly turnId: string;
  /** From 1. */
  readonly turn: number;
  readonly step: number;
  readonly recordedTurn: RecordedTurn | undefined;
  readonly recordedStep: RecordedStep | undefined;
}
