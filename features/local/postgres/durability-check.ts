/** What `doctor` says of commits that a crash of Postgres, or the promotion of a standby, could lose. */
import { type Finding, finding } from '../finding.ts';
import { withConnection } from './with-connection.ts';

interface Settings {
  readonly commit: string;
  readonly names: string;
  readonly standbys: number;
}

/**
 * TempoClaw acknowledges a record when Postgres does. If the record of a call is lost, a call that may run only once can
 * run again (DU-3).
 */
export function durabilityCheck(url: string) {
  return {
    check: 'Durability',
    async look(): Promise<string | readonly Finding[]> {
      // The check of Postgres says why it does not answer.
      const settings = await readSettings(url).catch(() => undefined);
      if (settings === undefined) return [];
      const [problem, remedy] = problemOf(settings) ?? [];
      if (problem !== undefined) return [finding('Durability', 'warn', problem, remedy)];
      return settings.standbys === 0
        ? 'commits wait for the disk; no standby is connected'
        : 'commits wait for the disk, and for a standby';
    },
  };
}

function problemOf({ commit, names, standbys }: Settings): readonly [string, string] | undefined {
  if (commit === 'off')
    return [
      'synchronous_commit is off: a crash of Postgres loses what it has acknowledged',
      'Set synchronous_commit = on in postgresql.conf.',
    ];
  if (standbys === 0 || (names !== '' && commit !== 'local')) return undefined;
  return [
    `${standbys} standby${standbys === 1 ? '' : 's'} may lag behind: after a promotion, calls that had run may be missing, and run again`,
    "Set synchronous_standby_names = 'ANY 1 (*)' and synchronous_commit = on in postgresql.conf.",
  ];
}

function readSettings(url: string): Promise<Settings | undefined> {
  return withConnection(url, async (client) => {
    const { rows } = await client.query<Settings>(
      `select current_setting('synchronous_commit') as commit, current_setting('synchronous_standby_names') as names,
        (select count(*)::int from pg_stat_replication) as standbys`,
    );
    return rows[0];
  });
}
