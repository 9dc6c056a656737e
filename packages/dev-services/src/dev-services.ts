/** Postgres and Temporal as child processes: the public exports of the package. */
export { askPostgres, askTemporal } from './ask-services.ts';
export {
  findPostgresBinaries,
  findPostgresPackage,
  postgresPackageName,
} from './postgres/postgres-binaries.ts';
export {
  databaseFolder,
  endFormerDatabase,
  hasDatabase,
  isPostgresOf,
  type PostgresOptions,
  type RunningPostgres,
  startPostgres,
} from './postgres/postgres.ts';
export type { RefuseUi } from './temporal/guard-ui.ts';
export { registerSearchAttributes } from './temporal/search-attributes.ts';
export { findPython, findTemporalBinary, obtainTemporalBinary } from './temporal/temporal-binary.ts';
export {
  isTemporalOf,
  startTemporalServer,
  type TemporalPorts,
  type TemporalServerOptions,
} from './temporal/temporal-server.ts';
