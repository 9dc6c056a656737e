/** Dependencies of every group of activities: the database, notifications of its writes, and scrubbers. */
import type { Pool } from '#store/postgres/pool.ts';
import type { ScrubberOf } from '#store/secrets/scrubber.ts';

export interface ActivityDeps {
  readonly pool: Pool;
  readonly scrubberOf: ScrubberOf;
  /** Called after each commit that may have added events to a session's feed. */
  readonly onWrite: (tenant: string, session: string) => void;
}
