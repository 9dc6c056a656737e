/** Exports what other features may use of this one. */
export type { DeliveryOutcome } from './deliverer.ts';
export { showDelivery } from './routes.ts';
export { webhookLinkMaker } from './rows.ts';
export { type DeliveryBasis, findEarlierRequest } from './store/webhook-delivery-store.ts';
export {
  deleteWebhook,
  insertWebhook,
  listDeliveries,
  openWebhook,
  redeliver,
  sealWebhook,
} from './store/webhook-store.ts';
export { startDueDeliveries } from './temporal.ts';
