/** Provides mails about approvals in a worker, for webhooks with a mail address. */
import type { WorkerPart } from '#domain/feature.ts';
import { mailAddressOf } from '#features/webhooks-out/contract.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createMailDelivery } from './activities/approval-mails.ts';
import { createSendMail } from './activities/send-mail.ts';

export function createWorkerPart(core: WorkerCore): WorkerPart {
  const send = createSendMail({ ...core, mail: core.config.mail });
  const deliver = createMailDelivery({ ...core, send, ownLink: () => core.extensions('ownLink')[0] });
  return {
    extends: {
      deliverer: {
        takes: ({ url, channel_key }) => channel_key === null && mailAddressOf(url) !== undefined,
        async deliver(tenant, delivery, signal) {
          const outcome = await deliver(tenant, delivery, signal);
          // RFC 5321 §4.2.1: 55x is about this mail, which would be refused again, and others wait behind it.
          return { ...outcome, isFinal: (outcome.answered ?? 0) >= 550 };
        },
      },
    },
  };
}
