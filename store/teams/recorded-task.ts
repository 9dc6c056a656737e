/** A task's change while it is recorded, and the result. */
import type { QualityGate } from '#domain/gate/gate.ts';
import type { RecordResult, TaskChange } from '#domain/team/team-task.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';

export type TaskKey = readonly [team: string, number: number];

export function ofTask({ tenant: tenant_id }: Pick<TenantDb, 'tenant'>, [team_key, number]: TaskKey) {
  return { tenant_id, team_key, number };
}

/** The recorded state, or why nothing was recorded. */
export type RecordedTask =
  | Exclude<RecordResult, { kind: 'gated' }>
  | { readonly kind: 'gated'; readonly agent_revision: number; readonly gates: readonly QualityGate[] }
  | { readonly kind: 'missing' };

/** A change with the fields that only rows have. */
export type WrittenChange = TaskChange & {
  /** Id of the workflow run that has decided it. */
  readonly run?: string;
  /** For submitted work: the session where the member works on the task. */
  readonly session?: string;
  /** Warnings of gates, for the result. */
  readonly warnings?: readonly string[];
};
