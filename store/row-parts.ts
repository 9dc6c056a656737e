/** What the core's rows must know about the rows of features: each feature declares it for its tables. */
import { type RawBuilder, sql } from 'kysely';
import type { Feature } from '#domain/feature.ts';
import type { Retention } from '#domain/schema/forgetting.ts';
import type { OldRows } from './old-rows.ts';
import type { SealedPart } from './secrets/read-tenant.ts';

export interface RowPart {
  /** Rows that are kept for a limited time. */
  readonly oldRows?: readonly OldRows[];
  /** Rows that a tenant's retention limits. */
  readonly retained?: readonly RetainedRows[];
  /** Tables with sealed texts, for key rotation. */
  readonly sealedRows?: readonly SealedRows[];
  /** Values that it keeps sealed for tenants besides their secrets: the vault opens them, and scrubbers hide them. */
  readonly sealedPart?: SealedPart;
  /** A condition on a row of `files`: a row of the feature refers to the file. */
  readonly namesFile?: RawBuilder<unknown>;
  /** Rows to delete with a forgotten session, before the core's rows. */
  ofSession?(scope: ForgottenSession): readonly RowChange[];
  /** Rows to delete with a user. */
  ofUser?(scope: ForgottenUser): {
    /** A query of digests of files that nothing else refers to afterwards. */
    readonly digests?: RawBuilder<unknown>;
    readonly before?: readonly RowChange[];
    /** Changes after the user's documents are deleted. */
    readonly after?: readonly RowChange[];
  };
}

/** A table whose rows are deleted when the time in a column is older than a setting of the retention. */
export interface RetainedRows {
  readonly days: keyof Retention;
  readonly table: string;
  readonly time: string;
}

/**
 * A table, and the SQL expression of the place that each sealed text is bound to. The columns are `sealed` and
 * `key_id`; both are null when there is no text.
 */
export interface SealedRows {
  readonly table: string;
  readonly place: string;
}

/** Rows of a table to delete, with their name in the receipt; or a statement that is safe to repeat. */
export type RowChange =
  | { readonly table: string; readonly where: RawBuilder<unknown>; readonly counted?: string }
  | { readonly change: RawBuilder<unknown> };

export interface ForgottenSession {
  readonly tenant: string;
  readonly session: string;
  readonly until: Date;
  /** A condition on tables with `tenant_id` and `session_key`. */
  readonly own: RawBuilder<unknown>;
  /** Queries that return ids. */
  readonly turns: RawBuilder<unknown>;
  readonly calls: RawBuilder<unknown>;
}

export interface ForgottenUser {
  readonly tenant: string;
  readonly user: string;
  /** A condition on tables with `tenant_id` and `user_id`. */
  readonly own: RawBuilder<unknown>;
}

/** The parts of all features of an installation. */
export type RowParts = readonly RowPart[];

export async function loadRowParts(features: readonly Pick<Feature, 'rows'>[]): Promise<RowParts> {
  const modules = await Promise.all(features.flatMap(({ rows }) => rows?.() ?? []));
  return modules.map(({ rowPart }) => rowPart);
}

/** Whether any of the conditions is true; false when there are none. */
export function anyOf(conditions: readonly (RawBuilder<unknown> | undefined)[]): RawBuilder<unknown> {
  const values = conditions.flatMap((condition) => (condition ? sql`(${condition})` : []));
  return values.length === 0 ? sql`false` : sql`(${sql.join(values, sql` or `)})`;
}
