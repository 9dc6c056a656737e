/** An installation as the commands of this feature use it, on the operator's machine: its database, Temporal and stores. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, deploymentValues, temporalConnection } from '#config';
import { CliError } from '#cli/cli-error.ts';
import type { RunFile } from '#cli/target.ts';
import type { Feature } from '#domain/feature.ts';
import { readInstallation } from '#store/installation-store.ts';
import { schemaMark, schemaProblem } from '#store/postgres/migrate.ts';
import { createPool, type Pool } from '#store/postgres/pool.ts';
import { loadRowParts, type RowParts } from '#store/row-parts.ts';
import type { Sealer } from '#store/seal.ts';
import { openSecrets } from '#store/secrets/open-secrets.ts';
import { connectTemporal, type TemporalAccess } from '#temporal/client.ts';
import { dataConverterOf } from '#temporal/payload-codec.ts';
import { type MovedObjects, openAllMovedObjects } from './moved-objects.ts';

export interface Installation {
  /** Of the database itself, not of a pooler in front of it. */
  readonly databaseUrl: string;
  readonly pool: Pool;
  readonly temporal: Pick<TemporalAccess, 'parked' | 'listSessions' | 'endRuns' | 'start'>;
  readonly sealer: Sealer;
  readonly rows: RowParts;
  readonly objects: readonly MovedObjects[];
  /** The version of its tables. */
  readonly schema: string;
  /** Receives what a person may want to read meanwhile. */
  report(line: string): void;
}

/** Where `up` runs it, for settings that name no servers. */
type Running = Pick<RunFile, 'database_url' | 'temporal' | 'namespace' | 'task_queue'> | undefined;

/** Closes it after `work`. @throws CliError */
export async function withInstallation<Result>(
  config: Config,
  running: Running,
  features: readonly Feature[],
  report: (line: string) => void,
  work: (installation: Installation) => Promise<Result>,
): Promise<Result> {
  const databaseUrl = config.database.url ?? running?.database_url;
  const address = config.temporal.address ?? running?.temporal;
  if (databaseUrl === undefined || address === undefined)
    throw new CliError('The settings do not say where Postgres and Temporal are.', {
      remedy:
        'Set DATABASE_URL and TEMPORAL_ADDRESS, or name the state folder of a running one with --state-dir.',
    });
  if (config.encryption.key === undefined && !existsSync(join(config.stateDir, 'sealing.key')))
    throw new CliError(
      `The master key of this installation is not here: ${join(config.stateDir, 'sealing.key')}.`,
      {
        code: 'NoKey',
        remedy:
          'Run this where a worker of the installation runs, with its state folder, or set encryption.key.',
      },
    );
  const problem = await schemaProblem(databaseUrl, features);
  if (problem !== undefined) throw new CliError(problem, { code: 'Schema' });
  const pool = createPool({
    url: databaseUrl,
    size: 4,
    applicationName: 'tempoclaw-tenants',
    onIdleError: () => undefined,
  });
  const rows = await loadRowParts(features);
  const secrets = await openSecrets({
    rows,
    settings: config,
    databaseUrl,
    pool,
    deploymentValues: deploymentValues(config),
    onError: () => undefined,
  });
  const temporal = connectTemporal({
    ...temporalConnection({ ...config, temporal: { ...config.temporal, address } }),
    namespace: running?.namespace ?? config.temporal.namespace,
    taskQueue: running?.task_queue ?? config.temporal.taskQueue,
    installation: await readInstallation(pool),
    dataConverter: dataConverterOf(config.encryption),
  });
  try {
    const { resolveSetting } = secrets.vault;
    return await work({
      databaseUrl,
      pool,
      temporal,
      sealer: secrets.sealer,
      rows,
      objects: await openAllMovedObjects(features, { config, resolveSetting }),
      schema: await schemaMark(features),
      report,
    });
  } finally {
    await temporal.close();
    await secrets.close();
    await pool.end();
  }
}
