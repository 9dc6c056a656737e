/** A delivery of a channel's webhook: of an event, or of a post without one. */
import type { DeliveryBasis } from '#features/webhooks-out/index.ts';
import type { DirectPost } from '../contract.ts';

export interface ChannelDelivery extends DeliveryBasis {
  readonly post: DirectPost | null;
}
