/** The arguments of a turn's calls, which its events do not have. */
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { listToolCalls } from '#store/turns/tool-call-store.ts';
import type { TurnNews } from './turn-follower.ts';

/** By the ids of the calls. */
export type CallArguments = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/** Calls whose arguments are looked up at once. */
const MAX_CALLS = 1_000;

/** Those of the calls that began in these events. */
export async function argumentsOf(db: TenantDb, turn: string, { events }: TurnNews): Promise<CallArguments> {
  const steps = events.flatMap(({ type, data }) => (type === 'tool.started' ? [Number(data['step'])] : []));
  if (steps.length === 0) return new Map();
  const rows = await listToolCalls(db, turn, MAX_CALLS, [Math.min(...steps) - 1, MAX_CALLS]);
  return new Map(rows.map(({ id, args }) => [id, args]));
}
