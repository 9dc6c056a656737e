/** What every room of the worker is made with: its rows, who hears of them, and how texts look before anyone sees them. */
import type { Pool } from '#store/pool.ts';
import type { ScrubberOf } from '#store/secrets/scrubber.ts';

export interface ActivityDeps {
  readonly pool: Pool;
  readonly scrubberOf: ScrubberOf;
  /** Told after each commit that may have added events to a session's feed. */
  readonly onWrite: (tenant: string, session: string) => void;
}
