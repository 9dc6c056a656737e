/** Which worker has a session's browser, or had it last, by the task queue that only this worker polls. */
import type { Pool } from '#store/postgres/pool.ts';
import { execute, readRow } from '#store/postgres/statements.ts';

interface BrowserPlace {
  readonly session: string;
  /** Null when no worker has it. */
  readonly queue: string | null;
}

export interface BrowserPlaces {
  /** Finds the browser's place for the session of a call. */
  find(tenant: string, call: string): Promise<BrowserPlace | undefined>;
  isAt(tenant: string, session: string, queue: string): Promise<boolean>;
  /** Records that the browser is at the queue from now on, whichever worker had it. */
  put(tenant: string, session: string, queue: string): Promise<void>;
  /** Records that no worker has it; a worker that still runs one ends it. */
  remove(tenant: string, session: string): Promise<void>;
}

export function createBrowserPlaces(pool: Pool): BrowserPlaces {
  return {
    find: (tenant, call) => readRow<BrowserPlace>(pool)`
      select c.session_key as session, b.queue from tool_calls c
       left join browsers b on b.tenant_id = c.tenant_id and b.session_key = c.session_key
       where c.tenant_id = ${tenant} and c.id = ${call}`,
    async isAt(tenant, session, queue) {
      const row = await readRow<{ queue: string }>(pool)`
        select queue from browsers where tenant_id = ${tenant} and session_key = ${session} and queue = ${queue}`;
      return row !== undefined;
    },
    async put(tenant, session, queue) {
      await execute(pool)`
        insert into browsers (tenant_id, session_key, queue) values (${tenant}, ${session}, ${queue})
        on conflict (tenant_id, session_key) do update set queue = excluded.queue`;
    },
    async remove(tenant, session) {
      await execute(pool)`delete from browsers where tenant_id = ${tenant} and session_key = ${session}`;
    },
  };
}
