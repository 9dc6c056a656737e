/** What other features declare of their rows for a tenant that moves; the core's rows declare it here. */
import { type RawBuilder, sql } from 'kysely';
import type { RowPart } from '#store/row-parts.ts';

declare module '#store/row-parts.ts' {
  interface RowPart {
    readonly moved?: MovedRows;
  }
}

export interface MovedRows {
  /** Tables whose rows stay with the installation. */
  readonly staying?: readonly string[];
  /** Columns with sealed values besides `sealedRows`. */
  readonly sealed?: readonly SealedColumn[];
  /** Rows that show that something is still under way, and what that is. */
  readonly underWay?: readonly UnderWay[];
  /** Changes of the rows when nothing of the tenant runs any more, and before it goes on. Safe to repeat. */
  parked?(tenant: string): readonly RawBuilder<unknown>[];
}

export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** SQL of the place that the value is bound to. */
  readonly place: string;
  /** Base64 as text, the same as bytes, or JSON calls of which each may have `sealed`. */
  readonly form: 'text' | 'bytes' | 'calls';
}

export interface UnderWay {
  readonly what: string;
  readonly table: string;
  readonly where: RawBuilder<unknown>;
}

const CORE: MovedRows = {
  sealed: [
    { table: 'tool_calls', column: 'args_sealed', place: `tenant_id || '/tool_calls/' || id`, form: 'bytes' },
    {
      table: 'tool_calls',
      column: 'outside',
      place: `tenant_id || '/tool_calls/' || id || '/outside'`,
      form: 'bytes',
    },
    { table: 'approvals', column: 'args_sealed', place: `tenant_id || '/approvals/' || id`, form: 'bytes' },
    {
      table: 'decision_proofs',
      column: 'sealed_args',
      place: `tenant_id || '/decisions/' || approval_id`,
      form: 'text',
    },
    {
      table: 'messages',
      column: 'calls',
      // The turn is named after its first message (domain/ids.ts).
      place: `tenant_id || '/invocations/turn_' || substr(id, strpos(id, '_') + 1)`,
      form: 'calls',
    },
  ],
  underWay: [{ what: 'requests to forget', table: 'forgettings', where: sql`ended_at is null` }],
};

/** Of the core and of all features. */
export function movedRowsOf(parts: readonly RowPart[]): readonly MovedRows[] {
  return [CORE, ...parts.flatMap(({ moved }) => moved ?? [])];
}
