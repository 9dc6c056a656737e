/** The deliveries of a worker: to addresses, by mail and to chats. */
import { createSendMail } from '#features/mail/activities/send-mail.ts';
import { createMailDelivery } from '#features/mail/activities/approval-mails.ts';
import type { WorkerPart } from '#domain/feature.ts';
import { tokenSecrets } from '#policy/decision-token.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createWebhookRoom } from './activities.ts';
import { startDueDeliveries } from './temporal.ts';

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
    recover: () => startDueDeliveries(core.pool, core.reach),
  };
}
