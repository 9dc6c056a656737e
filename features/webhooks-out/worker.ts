/** The deliveries of a worker: to addresses, by mail and to chats. */
import { sql } from 'kysely';
import { createSendMail } from '#features/mail/activities/send-mail.ts';
import { createMailDelivery } from '#features/mail/activities/approval-mails.ts';
import type { WorkerPart } from '#domain/feature.ts';
import { tokenSecrets } from '#policy/decision-token.ts';
import { isOlder } from '#store/old-rows.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createWebhookRoom } from './activities.ts';
import { startDueDeliveries } from './temporal.ts';

const OLD_DELIVERIES = {
  table: 'webhook_deliveries',
  isOld: sql`${isOlder('created_at', 30)} and ${isOlder('ended_at', 30)}`,
};

export function createWorkerPart(core: WorkerCore): WorkerPart {
  const { mail, api, approvals, channels, webhooks } = core.config;
  const { publicUrl } = api;
  const [tokenSecret = ''] = tokenSecrets(approvals.decisionToken.secret, core.masterKeys);
  const send = createSendMail({ ...core, mail });
  const deliverMail = createMailDelivery({ ...core, send, publicUrl, tokenSecret });
  return {
    activities: {
      ...createWebhookRoom({
        ...core,
        services: channels,
        settings: webhooks,
        deliverMail,
        publicUrl,
        tokenSecret,
      }),
    },
    oldRows: [OLD_DELIVERIES],
    recover: () => startDueDeliveries(core.pool, core.reach),
  };
}
