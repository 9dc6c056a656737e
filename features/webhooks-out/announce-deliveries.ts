/** Tells workers that deliveries are due. A notice that is lost costs half a second. */
import { sendNotice } from '#store/postgres/change-feed.ts';
import type { Pool } from '#store/postgres/pool.ts';

/** Call it after the commit that wrote them. Rejects if the database cannot be reached. */
export function announceDeliveries(pool: Pool): Promise<void> {
  return sendNotice(pool, 'deliveries', '');
}
