/** Channels of type `webhook`: signed calls of any system. */
import { assigneeProblem } from '#domain/team/lead-actions.ts';
import type { ChannelTypePart, SettingsProblem } from '#features/channels/index.ts';
import { findSchedule } from '#features/schedules/index.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { findTeam } from '#store/teams/team-store.ts';
import { beginWork } from './begin-work.ts';
import { webhookReader } from './reader.ts';
import { type InboundWebhook, inboundWebhookSchema } from './schema.ts';
import { isStandardSecret } from './signatures.ts';

/** Characters of a secret, which others must not find by trying. */
const MIN_SECRET = 16;

export const channelType: ChannelTypePart = {
  // The secret for the signature of each request.
  credentials: ['secret'],
  settings: ['allowed_tools', ...Object.keys(inboundWebhookSchema.shape)],
  schema: inboundWebhookSchema,
  async problem(db, settings, { secret = '' }) {
    const webhook = inboundWebhookSchema.parse(settings);
    if (webhook.signature === 'standard' && !isStandardSecret(secret))
      return {
        field: 'secret',
        message:
          'must be whsec_ and base64, by which Standard Webhooks sign; name another signature: github, stripe or hmac',
      };
    if (secret.length < MIN_SECRET)
      return { field: 'secret', message: `must have at least ${MIN_SECRET} characters` };
    if (webhook.action === 'schedule' && settings.allowed_tools)
      return {
        field: 'allowed_tools',
        message: 'means nothing with the action schedule, whose run has its own',
      };
    return findUnknown(db, webhook);
  },
  reader: webhookReader,
  begin: beginWork,
};

/** A team, a member or a schedule that the settings name and that does not exist. */
async function findUnknown(
  db: TenantDb,
  { action, team, assignee, schedule }: InboundWebhook,
): Promise<SettingsProblem | undefined> {
  if (action === 'schedule' && !(await findSchedule(db, schedule ?? '', {})))
    return { field: 'schedule', message: `there is no schedule ${schedule}` };
  if (action !== 'task') return undefined;
  const row = await findTeam(db, team ?? '');
  if (!row) return { field: 'team', message: `there is no team ${team}` };
  const message = assignee === undefined ? undefined : assigneeProblem(row, assignee);
  return message === undefined ? undefined : { field: 'assignee', message };
}
