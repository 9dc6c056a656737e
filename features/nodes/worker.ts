/** Nodes in a worker. */
import type { WorkerPart } from '#domain/feature.ts';
import { isOlder } from '#store/old-rows.ts';

export const OLD_INVOCATIONS = { table: 'node_invocations', isOld: isOlder('created_at', 7) };

export function createWorkerPart(): WorkerPart {
  return { oldRows: [OLD_INVOCATIONS] };
}
