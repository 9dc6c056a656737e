/** The interface through which other features deliver webhooks that have no HTTP address: by mail, to a chat. */
import type { AttemptRecord } from './store/delivery-queue-store.ts';
import type { DeliveryBasis } from './store/delivery-store.ts';
import type { WebhookRow } from './store/webhook-store.ts';

export interface Deliverer {
  /** Whether it delivers this webhook. */
  takes(webhook: WebhookRow): boolean;
  /** Makes one attempt. Safe to repeat. Rejects when `signal` stops it. */
  deliver(tenant: string, delivery: DeliveryBasis, signal: AbortSignal): Promise<DeliveryOutcome>;
}

/** `problem` is null when it was accepted. */
export interface DeliveryOutcome extends Pick<AttemptRecord, 'answered' | 'problem'> {
  /** Milliseconds until a retry, as the receiver requests. */
  readonly retryAfter?: number | undefined;
  /** True if a retry would get the same answer. */
  readonly isFinal?: boolean | undefined;
  /** True if the receiver is gone for good. */
  readonly isGone?: boolean | undefined;
  /** True if there was nothing to say, for the reason in `problem`. */
  readonly isSilent?: boolean | undefined;
}

declare module '#domain/feature.ts' {
  interface FeaturePoints {
    readonly deliverer: Deliverer;
  }
}
