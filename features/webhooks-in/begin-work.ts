/**
 * Starts what a signed call starts if its channel's settings say that it is no message: a task of a team, or a run of a
 * schedule.
 */
import { createSchedules, findSchedule } from '#features/schedules/index.ts';
import type { Inbound } from '#features/channels/contract.ts';
import { Failure } from '#domain/errors.ts';
import { OUTSIDE_MESSAGE } from '#domain/policy/used-tools.ts';
import { inboundWebhookSchema } from './schema.ts';
import { teamAccessProblem } from '#domain/team/may-use-team.ts';
import type { ChannelRow } from '#features/channels/index.ts';
import { findTeam } from '#store/teams/team-store.ts';
import { createTeamBoard } from '#temporal/team-board.ts';
import type { ApiDeps } from '#api/deps.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

/**
 * Returns false when it is a message. The same call again is the same work. @throws Failure NotFound for what has been
 * deleted, Forbidden
 */
export async function beginWork(
  { pool, temporal, secrets }: ApiDeps,
  tenant: string,
  { key, settings }: ChannelRow,
  { id, text, person, subject }: Inbound,
): Promise<boolean> {
  const db = forTenant(pool, tenant);
  const { action, team, schedule, assignee } = inboundWebhookSchema.parse(settings);
  const { scrubberOf } = secrets.vault;
  const repeat = `channel/${key}/${id}`;
  if (action === 'schedule') {
    const row = await findSchedule(db, schedule ?? '', {});
    if (!row) throw new Failure('NotFound', `There is no schedule ${schedule}: the channel ${key} names it`);
    await createSchedules({ pool, temporal, scrubberOf }).runNow(row, tenant, repeat);
  }
  if (action === 'task') {
    const row = await findTeam(db, team ?? '');
    if (!row) throw new Failure('NotFound', `There is no team ${team}: the channel ${key} names it`);
    const problem = teamAccessProblem(row.settings, { user: person.id, channel: key });
    if (problem !== undefined) throw new Failure('Forbidden', problem);
    const board = createTeamBoard({ pool, scrubberOf, reach: temporal });
    const origin = {
      actor: `channel:${key}`,
      context: { user: person.id, group: settings.allowed_tools, read: { [OUTSIDE_MESSAGE]: repeat } },
    };
    const draft = { subject: subject || key, description: text, assignee };
    await board.begin(await board.create(tenant, row, draft, origin, repeat));
  }
  return action !== 'message';
}
