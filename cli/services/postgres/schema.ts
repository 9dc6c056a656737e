/** The schema of this installation: the core's and that of its features. */
import { FEATURES } from '#features';
import { markProblem, migrate, schemaMark, schemaProblem } from '#store/postgres/migrate.ts';

/** See store/postgres/migrate.ts. */
export const migrateSchema = (databaseUrl: string) => migrate(databaseUrl, FEATURES);
export const schemaProblemOf = (databaseUrl: string) => schemaProblem(databaseUrl, FEATURES);
export const markProblemOf = (mark: string | null) => markProblem(mark, FEATURES);
export const ownSchemaMark = () => schemaMark(FEATURES);
