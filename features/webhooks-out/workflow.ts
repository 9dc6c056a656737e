/**
 * Delivers one event to one webhook: one attempt at a time until one is accepted or none is left (docs/webhooks.md).
 */
import { continueAsNew, proxyActivities, setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import type { DeliveryReport } from './schema.ts';
import { inputProblem } from '#domain/turn/start-problem.ts';
import { type DeliveryInput, WEBHOOK_DELIVERY, type WebhookActivities } from './contract.ts';
import { DELIVERING } from '#workflows/activity-options.ts';
import { refuseWrongStart } from '#workflows/steps/refuse-start.ts';

const { deliver_webhook } = proxyActivities<WebhookActivities>(DELIVERING);

export async function webhookDelivery(input: DeliveryInput): Promise<DeliveryReport> {
  refuseWrongStart(inputProblem(WEBHOOK_DELIVERY, input, ['tenant', 'id'], []));
  for (;;) {
    const report = await deliver_webhook(input);
    setCurrentDetails(`${report.status} after ${report.attempts} attempts`);
    if (report.wait === undefined) return report;
    await sleep(report.wait);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof webhookDelivery>(input);
  }
}
