/** Types of columns, as `pg` gives them and as it takes them. */
import type { ColumnType } from 'kysely';

export type Int8 = ColumnType<string, number | string, number | string>;
export type Numeric = Int8;
export type Timestamp = ColumnType<Date, Date | string, Date | string>;
/** An object is given as text, since `pg` would make a list one of SQL's own. */
export type Json<Shape> = ColumnType<Shape, string, string>;
/** Need not be given. */
export type Generated<T> =
  T extends ColumnType<infer Read, infer Insert, infer Update>
    ? ColumnType<Read, Insert | undefined, Update>
    : ColumnType<T, T | undefined, T>;
