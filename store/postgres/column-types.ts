/** Types of columns, as `pg` returns and accepts them. */
import type { ColumnType } from 'kysely';

export type Int8 = ColumnType<string, number | string, number | string>;
export type Numeric = Int8;
export type Timestamp = ColumnType<Date, Date | string, Date | string>;
/** An object is passed as text, because `pg` would convert a list to an SQL array. */
export type Json<Shape> = ColumnType<Shape, string, string>;
/** The column has a default. */
export type Generated<T> =
  T extends ColumnType<infer Read, infer Insert, infer Update>
    ? ColumnType<Read, Insert | undefined, Update>
    : ColumnType<T, T | undefined, T>;
