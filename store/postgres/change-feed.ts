/**
 * Notifies every process that rows it keeps in memory have changed: by one LISTEN connection, and by a poll that makes
 * up for lost notices. The statement that writes such a row also records the change (`noteChange`).
 */
import { type RawBuilder, sql } from 'kysely';
import { listenTo } from './listener.ts';
import type { Pool } from './pool.ts';
import { readRow } from './statements.ts';
import type { TenantDb } from './tenant-db.ts';

const CHANNEL = 'tempoclaw_changes';
/** How long a lost notice can delay a change. */
const POLL_MS = 2_000;
/** A poll looks back this far; transactions that write such rows are much shorter. */
const LOOK_BACK = '1 minute';

/**
 * What processes keep in memory or wait for, by the name of its table; `stops` are workflows that cancel an activity, and
 * `deliveries` are due (`sendNotice`).
 */
export type ChangeKind =
  | 'secrets'
  | 'custom_tools'
  | 'nodes'
  | 'node_results'
  | 'freezes'
  | 'settings'
  | 'tenants'
  | 'stops'
  | 'deliveries';

export interface ChangeFeed {
  /**
   * `onChange` receives the tenant whose rows changed (of `stops`, the workflow's id), or undefined when any may have
   * changed. It must not throw.
   */
  subscribe(kind: ChangeKind, onChange: (tenant: string | undefined) => void): void;
  /** Notifies this process at once, after it wrote the rows; the others receive the notice. */
  notify(kind: ChangeKind, tenant: string): void;
  close(): Promise<void>;
}

/**
 * A common table expression that records the change of a tenant and notifies with the commit. `of` names an earlier
 * expression with a row for each changed row; without a row nothing is notified.
 */
export function noteChange(tenant: string, kind: ChangeKind, of: string): RawBuilder<unknown> {
  return sql`noted as (
      insert into changes (tenant_id, kind) select ${tenant}, ${kind} where exists (select from ${sql.table(of)})
      on conflict (tenant_id, kind) do update set version = changes.version + 1, changed_at = now()
      returning pg_notify(${CHANNEL}, kind || ' ' || tenant_id))`;
}

/** Makes all processes reload their settings. Returns the version of this request. */
export async function noteSettings(db: TenantDb): Promise<string> {
  const row = await readRow<{ version: string }>(db)`
    with noted as (
      insert into changes (tenant_id, kind) values (${db}, 'settings')
      on conflict (tenant_id, kind) do update set version = changes.version + 1, changed_at = now()
      returning version, pg_notify(${CHANNEL}, 'settings ' || tenant_id))
    select version::text from noted`;
  return row?.version ?? '';
}

/**
 * Tells all workers that `subject` needs them now: the workflow that cancels an activity, or the tenant whose deliveries
 * are due. It is only quicker: their next heartbeat or look makes up for a lost notice.
 */
export async function sendNotice(pool: Pool, kind: 'stops' | 'deliveries', subject: string): Promise<void> {
  await pool.query('select pg_notify($1, $2)', [CHANNEL, `${kind} ${subject}`]);
}

/** The newest such version; `fresh` when it is from the last `seconds`. Undefined when nobody has requested one yet. */
export function settingsVersion(
  db: TenantDb,
  seconds: number,
): Promise<{ readonly version: string; readonly fresh: boolean } | undefined> {
  return readRow<{ version: string; fresh: boolean }>(db)`
    select version::text, changed_at > now() - make_interval(secs => ${seconds}) as fresh from changes
    where tenant_id = ${db} and kind = 'settings'`;
}

/** Connects in the background and retries without end. Errors go to the callback; nothing is thrown. */
export function createChangeFeed(options: {
  readonly databaseUrl: string;
  readonly pool: Pool;
  readonly onError: (error: unknown) => void;
}): ChangeFeed {
  const readers = new Map<string, ((tenant: string | undefined) => void)[]>();
  const versions = new Map<string, string>();
  const notify = (kind: string, tenant: string | undefined): void => {
    for (const onChange of readers.get(kind) ?? []) onChange(tenant);
  };
  const listener = listenTo(CHANNEL, {
    databaseUrl: options.databaseUrl,
    applicationName: 'tempoclaw-changes',
    onError: options.onError,
    // Anything may have changed while nobody listened.
    onConnected() {
      for (const kind of readers.keys()) notify(kind, undefined);
    },
    onNotice(payload) {
      const cut = payload.indexOf(' ');
      notify(payload.slice(0, cut), payload.slice(cut + 1));
    },
  });

  let polling: Promise<void> | undefined;
  async function poll(): Promise<void> {
    try {
      const { rows } = await options.pool.query<{ tenant_id: string; kind: string; version: string }>({
        name: 'read_changes',
        text: `select tenant_id, kind, version from changes where changed_at > now() - interval '${LOOK_BACK}'`,
      });
      for (const { tenant_id, kind, version } of rows) {
        const name = `${kind} ${tenant_id}`;
        if (versions.get(name) === version) continue;
        versions.set(name, version);
        notify(kind, tenant_id);
      }
    } catch (error) {
      options.onError(error);
    } finally {
      polling = undefined;
    }
  }
  const timer = setInterval(() => {
    polling ??= poll();
  }, POLL_MS);
  timer.unref();

  return {
    subscribe(kind, onChange) {
      readers.set(kind, [...(readers.get(kind) ?? []), onChange]);
    },
    notify,
    async close() {
      clearInterval(timer);
      await polling;
      await listener.close();
    },
  };
}
