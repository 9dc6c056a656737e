/** What a start makes in the services before its programs use them. */
import { Connection } from '@temporalio/client';
import type { Config } from '#config';
import { migrate } from '#store/migrate.ts';
import type { Step } from './progress.ts';
import { connectionTo } from './reach.ts';
import type { PublishedInfo } from './run-state.ts';
import { registerSearchAttributes } from './search-attributes.ts';

/** To be made when the database is there. */
export function migrationStep(info: Pick<PublishedInfo, 'database_url'>): Step {
  return {
    key: 'migrations',
    title: 'Database schema',
    async run() {
      const ran = await migrate(info.database_url);
      return ran.length === 0 ? 'up to date' : `brought up to date, ${ran.length} steps`;
    },
  };
}

/** To be registered when Temporal is there. */
export function searchAttributeStep(
  config: Config,
  info: Pick<PublishedInfo, 'temporal' | 'namespace'>,
): Step {
  return {
    key: 'search-attributes',
    title: 'Search attributes',
    async run() {
      const connection = await Connection.connect(connectionTo(config, info.temporal));
      try {
        const added = await registerSearchAttributes(connection, info.namespace);
        return added.length === 0 ? 'registered' : `${added.length} registered`;
      } finally {
        await connection.close();
      }
    },
  };
}
