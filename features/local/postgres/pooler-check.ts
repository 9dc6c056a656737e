/** What `doctor` says of the pooler in front of Postgres. */
import { withoutPassword } from '#config';
import { SESSION_LIMITS } from '#store/postgres/pool.ts';
import { type Finding, finding } from '../finding.ts';
import { withConnection } from './with-connection.ts';

const STATEMENT = {
  name: 'limits_of_pooled_connections',
  text: 'select name from pg_settings where name = any ($1) and setting::bigint <= 0',
  values: [Object.keys(SESSION_LIMITS)],
};

const CONNECT_QUERY = `connect_query='${Object.entries(SESSION_LIMITS)
  .map(([name, value]) => `set ${name} = ${value}`)
  .join('; ')}'`;

/** A named statement twice, as the API and the workers run them, and the limits of the pooler's connections. */
export function poolerCheck(url: string) {
  const shown = withoutPassword(url);
  return {
    check: 'Pooler',
    of: `${shown} does not serve named statements`,
    remedy:
      'Check database.poolerUrl, and that PgBouncer is 1.21 or later, with pool_mode=transaction and max_prepared_statements=200.',
    async look(): Promise<string | readonly Finding[]> {
      const missing = await missingLimits(url);
      if (missing.length === 0) return shown;
      const remedy = `In pgbouncer.ini, add to the line of the database: ${CONNECT_QUERY}`;
      return [finding('Pooler', 'warn', `${shown} does not set ${missing.join(' and ')}`, remedy)];
    },
  };
}

function missingLimits(url: string): Promise<readonly string[]> {
  return withConnection(url, async (client) => {
    await client.query(STATEMENT);
    const { rows } = await client.query<{ name: string }>(STATEMENT);
    return rows.map(({ name }) => name);
  });
}
