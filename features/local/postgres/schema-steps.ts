/** What a start makes in the services before its programs use them. */
import { Connection } from '@temporalio/client';
import type { Config } from '#config';
import { readInstallation } from '#store/installation-store.ts';
import { createPool } from '#store/postgres/pool.ts';
import { claimNamespace } from '#temporal/installation.ts';
import { SEARCH_ATTRIBUTES } from '#domain/search-attributes.ts';
import { migrate, type SchemaPart } from '#store/postgres/migrate.ts';
import { keepSchemaMark } from './kept-schema.ts';
import type { Step } from '@tempoclaw/dev-services/steps';
import { connectionTo } from '../reach.ts';
import type { PublishedInfo } from '#cli/run-state.ts';
import { registerSearchAttributes } from '@tempoclaw/dev-services';

/** Must run when the database is there. */
export function migrationStep(
  config: Config,
  info: Pick<PublishedInfo, 'database_url'>,
  features: readonly SchemaPart[],
): Step {
  return {
    key: 'migrations',
    title: 'Database schema',
    async run() {
      const ran = await migrate(info.database_url, features);
      if (config.database.url === undefined) await keepSchemaMark(config.stateDir, features);
      return ran.length === 0 ? 'up to date' : `brought up to date, ${ran.length} steps`;
    },
  };
}

/** Must run once the database and Temporal are there; refuses another installation's namespace. */
export function namespaceStep(config: Config, info: Place & Pick<PublishedInfo, 'database_url'>): Step {
  return {
    key: 'namespace',
    title: 'Namespace',
    async run() {
      const connection = await Connection.connect(connectionTo(config, info.temporal));
      const pool = createPool({
        url: info.database_url,
        size: 1,
        applicationName: 'tempoclaw-up',
        onIdleError: () => undefined,
      });
      try {
        await claimNamespace(
          { service: connection.workflowService, namespace: info.namespace },
          await readInstallation(pool),
        );
        return `${info.namespace}, of this installation`;
      } finally {
        await connection.close();
        await pool.end();
      }
    },
  };
}

type Place = Pick<PublishedInfo, 'temporal' | 'namespace'>;

/** Must run when Temporal is there. */
export function searchAttributeStep(config: Config, info: Place): Step {
  return {
    key: 'search-attributes',
    title: 'Search attributes',
    async run() {
      const connection = await Connection.connect(connectionTo(config, info.temporal));
      try {
        const added = await registerSearchAttributes(connection, info.namespace, SEARCH_ATTRIBUTES);
        return added.length === 0 ? 'registered' : `${added.length} registered`;
      } finally {
        await connection.close();
      }
    },
  };
}
