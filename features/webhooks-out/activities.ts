/**
 * The activities of outgoing webhooks (features/webhooks-out/workflow.ts): each attempt is one signed POST, or one
 * mail, and a row's change.
 */
import { Context } from '@temporalio/activity';
import { Webhook } from 'standardwebhooks';
import type { EgressSettings } from '#domain/policy/effective-egress.ts';
import type { DeliveryReport } from './schema.ts';
import { type DeliveryInput, NOTIFY_TEST, retryDelay, type WebhookActivities } from './contract.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import { tenantEgress } from '#policy/tenant-egress.ts';
import type { EventNotifier } from '#store/event-notifier.ts';
import {
  type AttemptRecord,
  type DeliveryBasis,
  HAS_DUE,
  readDelivery,
  recordAttempt,
  takeUpNext,
} from './store/webhook-delivery-store.ts';
import type { Deliverer, DeliveryOutcome } from './deliverer.ts';
import { openWebhook } from './store/webhook-store.ts';
import type { Egress } from '#activities/egress/create-egress.ts';
import type { ActivityDeps } from '#activities/activity-deps.ts';
import type { Sealer } from '#store/seal.ts';
import { startDueDeliveries } from './temporal.ts';
import { activityFailure, failingAs } from '#activities/activity-failure.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { EgressError } from '@tempoclaw/egress';

export interface WebhookDeps extends Pick<ActivityDeps, 'pool'> {
  readonly sealer: Pick<Sealer, 'open'>;
  readonly egress: Egress;
  readonly notifier: Pick<EventNotifier, 'whenDue'>;
  readonly reach: Pick<WorkflowReach, 'start'>;
  readonly egressSettings: EgressSettings;
  readonly deliverers: () => readonly Deliverer[];
  readonly settings: { readonly retrySeconds: readonly number[]; readonly disableAfterDays: number };
}

/** Longest wait that a receiver can request. */
const MAX_PATIENCE_MS = 3_600_000;
/** A chat service that is away is retried each minute, for three days. */
const CHANNEL_WAIT_MS = 60_000;
const CHANNEL_TRIES = 4_320;

/** Seconds: a century. */
const ENDLESS = 3_153_600_000;

/** A receiver that takes longer should answer first and work then, as the specification says. */
const LIMITS = { redirects: 0, bytes: 65_536, totalMs: 15_000, idleMs: 15_000 };

export function createWebhookActivities(deps: WebhookDeps): WebhookActivities {
  const { pool, reach, settings } = deps;
  const startDue = () => startDueDeliveries(pool, reach);
  deps.notifier.whenDue(HAS_DUE, startDue);
  const attemptOnce = async (tenant: string, delivery: DeliveryBasis): Promise<DeliveryReport> => {
    const record = await attempt(deps, tenant, delivery);
    // A channel that is away loses nothing, so it stays on.
    const patience = delivery.webhook.channel_key === null ? settings.disableAfterDays * 86_400 : ENDLESS;
    const isFirst = await recordAttempt(forTenant(pool, tenant), delivery, record, patience);
    if (!isFirst) return reportOf(await readDelivery(forTenant(pool, tenant), delivery.id));
    return { status: record.status, attempts: delivery.attempts + 1, wait: record.wait };
  };
  return {
    deliver_webhook: failingAs(activityFailure, async ({ tenant, id }: DeliveryInput) => {
      const delivery = await readDelivery(forTenant(pool, tenant), id);
      // Its webhook was deleted, or its session forgotten.
      if (!delivery) return { status: 'failed', attempts: 0 };
      if (delivery.status === 'pending' && delivery.wait > 0) return reportOf(delivery);
      const report = delivery.status === 'pending' ? await attemptOnce(tenant, delivery) : reportOf(delivery);
      // This also covers one that ended in an attempt whose worker died then.
      if (report.status !== 'pending') await takeUpNext(forTenant(pool, tenant), delivery);
      // It also starts those for which there was no place beside it.
      await startDue();
      return report;
    }),
  };
}

function reportOf(delivery: DeliveryBasis | undefined): DeliveryReport {
  if (!delivery) return { status: 'failed', attempts: 0 };
  const { status, attempts, wait } = delivery;
  return { status, attempts, ...(status === 'pending' && { wait: Math.max(wait, 0) }) };
}

async function attempt(deps: WebhookDeps, tenant: string, delivery: DeliveryBasis): Promise<AttemptRecord> {
  const { webhook, stored } = delivery;
  const failed = { status: 'failed', answered: null } as const;
  if (!webhook.enabled) return { ...failed, problem: 'the webhook is disabled' };
  if (!stored && !delivery.post) return { ...failed, problem: 'the event is no longer kept' };
  const outcome = await notify(deps, tenant, delivery, stored);
  const { answered, problem, retryAfter, isSilent, isFinal } = outcome;
  if (problem === null || isSilent) return { status: 'delivered', answered, problem };
  if (isFinal || delivery.event === NOTIFY_TEST) return { ...failed, answered, problem };
  if (outcome.isGone) return { ...failed, answered, problem, gone: true };
  const wait = waitOf(deps.settings.retrySeconds, delivery, retryAfter);
  const isWait = retryAfter !== undefined;
  return { status: wait === undefined ? 'failed' : 'pending', answered, problem, wait, isWait };
}

/**
 * Returns undefined if it is given up. A receiver that says when to retry is available, so that does not count as a
 * try.
 */
function waitOf(
  retrySeconds: readonly number[],
  { attempts, waits, webhook }: DeliveryBasis,
  retryAfter: number | undefined,
): number | undefined {
  if (retryAfter !== undefined) return Math.min(Math.max(retryAfter, 1_000), MAX_PATIENCE_MS);
  const tries = attempts + 1 - waits;
  const usual = retryDelay(retrySeconds, tries, Math.random);
  if (webhook.channel_key === null) return usual;
  // A chat must not pause for hours, because all later posts wait for this one.
  return tries < CHANNEL_TRIES ? Math.min(usual ?? CHANNEL_WAIT_MS, CHANNEL_WAIT_MS) : undefined;
}

async function notify(
  deps: WebhookDeps,
  tenant: string,
  delivery: DeliveryBasis,
  stored: DeliveryBasis['stored'],
): Promise<DeliveryOutcome> {
  const { webhook } = delivery;
  const deliverer = deps.deliverers().find((one) => one.takes(webhook));
  if (deliverer) return deliverer.deliver(tenant, delivery, Context.current().cancellationSignal);
  if (!stored || !/^https?:/.test(webhook.url))
    return { answered: null, problem: 'nothing of this installation delivers there', isFinal: true };
  const outcome = await post(deps, tenant, delivery, stored);
  return { ...outcome, isGone: outcome.answered === 410 };
}

/** `problem` is null when it was accepted. */
async function post(
  deps: WebhookDeps,
  tenant: string,
  { id, webhook }: DeliveryBasis,
  stored: NonNullable<DeliveryBasis['stored']>,
): Promise<DeliveryOutcome> {
  const body = JSON.stringify({ type: stored.type, timestamp: stored.at, data: stored });
  const now = new Date();
  const { secret, before } = openWebhook(deps.sealer, tenant, webhook);
  const secrets = before && Date.parse(before.until) > now.getTime() ? [secret, before.secret] : [secret];
  const rules = await tenantEgress(deps.pool, deps.egressSettings, tenant);
  const client = deps.egress.open({ labels: { tenant, purpose: 'webhook' }, rules, limits: LIMITS });
  const { cancellationSignal: signal } = Context.current();
  try {
    const response = await client.fetch(webhook.url, {
      method: 'POST',
      body,
      signal,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'TempoClaw-Webhooks/1',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': secrets.map((one) => new Webhook(one).sign(id, now, body)).join(' '),
      },
    });
    // The response body is not needed.
    await response.body?.cancel();
    const { ok, status: answered } = response;
    return { answered, problem: ok ? null : `it answered ${answered}` };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof EgressError)) throw error;
    return { answered: null, problem: error.message.slice(0, 500) };
  } finally {
    await client.close();
  }
}
