/** What the core's own rows must know of the rows of features: each feature says it of its tables. */
import { type RawBuilder, sql } from 'kysely';
import type { Feature } from '#domain/feature.ts';
import type { OldRows } from './old-rows.ts';
import type { SealedPart } from './secrets/read-tenant.ts';

export interface RowPart {
  /** What is kept for a time only. */
  readonly oldRows?: readonly OldRows[];
  /** Tables with sealed texts, for a new key. */
  readonly sealedRows?: readonly SealedRows[];
  /** What it keeps sealed for tenants beside their secrets: opened in the vault, and hidden wherever texts are scrubbed. */
  readonly sealedPart?: SealedPart;
  /** A condition on a row of `files`: something of it names the file. */
  readonly namesFile?: RawBuilder<unknown>;
  /** A condition on a row `l` of `approval_links`: it was made by something that may not make it any more. */
  readonly isLinkOver?: RawBuilder<unknown>;
  /** What goes with a session that is forgotten, before the core's rows. */
  ofSession?(scope: ForgottenSession): readonly RowChange[];
  /** What goes with a user. */
  ofUser?(scope: ForgottenUser): {
    /** A query of digests of files that are named by nothing else after it. */
    readonly digests?: RawBuilder<unknown>;
    readonly before?: readonly RowChange[];
    /** Once the user's documents are gone. */
    readonly after?: readonly RowChange[];
  };
}

/** A table, and what each of its sealed texts is bound to, in SQL. The columns are `sealed` and `key_id`, null where there is none. */
export interface SealedRows {
  readonly table: string;
  readonly place: string;
}

/** Rows of a table that go, and what the receipt calls them; or a statement, which is safe to repeat. */
export type RowChange =
  | { readonly table: string; readonly where: RawBuilder<unknown>; readonly counted?: string }
  | { readonly change: RawBuilder<unknown> };

export interface ForgottenSession {
  readonly tenant: string;
  readonly session: string;
  readonly until: Date;
  /** A condition on tables with `tenant_id` and `session_key`. */
  readonly own: RawBuilder<unknown>;
  /** Queries of ids. */
  readonly turns: RawBuilder<unknown>;
  readonly calls: RawBuilder<unknown>;
}

export interface ForgottenUser {
  readonly tenant: string;
  readonly user: string;
  /** A condition on tables with `tenant_id` and `user_id`. */
  readonly own: RawBuilder<unknown>;
}

/** Of all features of an installation. */
export type RowParts = readonly RowPart[];

export async function loadRowParts(features: readonly Pick<Feature, 'rows'>[]): Promise<RowParts> {
  const modules = await Promise.all(features.flatMap(({ rows }) => rows?.() ?? []));
  return modules.map(({ rowPart }) => rowPart);
}

/** Whether any of the conditions holds; no when there is none. */
export function anyOf(conditions: readonly (RawBuilder<unknown> | undefined)[]): RawBuilder<unknown> {
  const values = conditions.flatMap((condition) => (condition ? sql`(${condition})` : []));
  return values.length === 0 ? sql`false` : sql`(${sql.join(values, sql` or `)})`;
}
