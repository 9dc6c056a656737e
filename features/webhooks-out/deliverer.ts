/** The point at which other features deliver what webhooks say elsewhere than to an address: by mail, to a chat. */
import type { AttemptRecord, DeliveryBasis } from './store/webhook-delivery-store.ts';
import type { WebhookRow } from './store/webhook-store.ts';

export interface Deliverer {
  /** Whether this is its webhook. */
  takes(webhook: WebhookRow): boolean;
  /** One attempt. Safe to repeat. Rejects when it is stopped by `signal`. */
  deliver(tenant: string, delivery: DeliveryBasis, signal: AbortSignal): Promise<DeliveryOutcome>;
}

/** `problem` is null when it was taken. */
export interface DeliveryOutcome extends Pick<AttemptRecord, 'answered' | 'problem'> {
  /** Milliseconds; the receiver said when. */
  readonly retryAfter?: number | undefined;
  /** Again would be answered the same. */
  readonly isFinal?: boolean | undefined;
  /** The receiver is gone for good. */
  readonly isGone?: boolean | undefined;
  /** There was nothing to say, for the reason in `problem`. */
  readonly isSilent?: boolean | undefined;
}

declare module '#domain/feature.ts' {
  interface FeaturePoints {
    readonly deliverer: Deliverer;
  }
}
