/**
 * A still tenant goes on, where it was frozen or where it was moved to: parked sessions and open tasks of teams start,
 * and then the tenant is unfrozen. Until then these runs only wait. Safe to repeat at any point.
 */
import { MAIN_AGENT } from '#api/tenant-defaults.ts';
import { sessionWorkflowId } from '#domain/ids.ts';
import { AGENT_TURN, type AgentTurnInput } from '#domain/turn/turn.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import { thawTenant } from '#store/tenant-freeze.ts';
import { taskStart } from '#temporal/team-board.ts';
import type { Installation } from './installation.ts';
import { parkedPlace } from './rows.ts';
import { alone } from './store/alone.ts';
import { deleteParked, listOpenTasks, listParked, type ParkedRow } from './store/parked-store.ts';

/** Returns how many sessions and tasks go on. Waits while the tenant is being parked. */
export function goOn(at: Installation, tenant: string): Promise<number> {
  return alone(at.databaseUrl, tenant, () => startAll(at, tenant));
}

async function startAll(at: Installation, tenant: string): Promise<number> {
  const db = forTenant(at.pool, tenant);
  const [parked, tasks] = [await listParked(db), await listOpenTasks(db)];
  for (const session of parked) await startParked(at, tenant, session);
  for (const { team_key, number } of tasks) await at.temporal.start(taskStart(tenant, team_key, number));
  await inTransaction(db, async (tx) => {
    await deleteParked(tx);
    await thawTenant(tx);
  });
  return parked.length + tasks.length;
}

/** One that was started before is running, because nothing that it waits for can happen yet. */
async function startParked(
  { temporal, sealer }: Installation,
  tenant: string,
  { session_key: session, sealed, agent, user }: ParkedRow,
): Promise<void> {
  const input = JSON.parse(sealer.open(sealed, parkedPlace(tenant, session))) as AgentTurnInput;
  const labels = { tenant, session, agent: agent ?? MAIN_AGENT, user: user ?? undefined };
  const summary = `session ${session} goes on`;
  await temporal.start({
    type: AGENT_TURN.type,
    id: sessionWorkflowId(tenant, session),
    input,
    summary,
    ...labels,
  });
}
