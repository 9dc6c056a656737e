/** Exports what other features may use of this one. */
export { announceDeliveries } from './announce-deliveries.ts';
export { showBreaker } from './breaker.ts';
export type { DeliveryOutcome } from './deliverer.ts';
export { showDelivery } from './routes.ts';
export { webhookLinkMaker } from './rows.ts';
export { type DeliveryBasis, findEarlierRequest } from './store/delivery-store.ts';
export {
  deleteWebhook,
  insertWebhook,
  listDeliveries,
  openWebhook,
  redeliver,
  sealWebhook,
} from './store/webhook-store.ts';
