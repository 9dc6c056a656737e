/** A task's change on its way into the rows, and what became of it. */
import type { QualityGate } from '#domain/gate.ts';
import type { RecordResult, TaskChange } from '#domain/team-task.ts';

export type TaskKey = readonly [tenant: string, team: string, number: number];

export function ofTask([tenant_id, team_key, number]: TaskKey) {
  return { tenant_id, team_key, number };
}

/** What stands now, or why nothing was recorded. */
export type RecordedTask =
  | Exclude<RecordResult, { kind: 'gated' }>
  | { readonly kind: 'gated'; readonly agent_revision: number; readonly gates: readonly QualityGate[] }
  | { readonly kind: 'missing' };

/** A change with what only rows have of it. */
export type WrittenChange = TaskChange & {
  /** Of the workflow that has decided it. */
  readonly run?: string;
  /** Of what is handed in: where the member works on the task. */
  readonly session?: string;
  /** Of gates, for the result. */
  readonly warnings?: readonly string[];
};
