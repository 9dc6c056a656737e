/** The room of outgoing webhooks (workflows/webhook-delivery.ts): each attempt is one signed POST, or one mail, and a row's change. */
import { Context } from '@temporalio/activity';
import { Webhook } from 'standardwebhooks';
import { mailAddressOf } from '#domain/approval-mail.ts';
import type { EgressSettings } from '#domain/policy/effective-egress.ts';
import type { DeliveryReport } from '#domain/schema/webhook.ts';
import { type DeliveryInput, NOTIFY_TEST, retryDelay, type WebhookActivities } from '#domain/webhook.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import { tenantEgress } from '#policy/tenant-egress.ts';
import type { EventNotifier } from '#store/event-notifier.ts';
import type { Pool } from '#store/pool.ts';
import type { Sealer } from '#store/seal.ts';
import {
  type AttemptRecord,
  type DeliveryBasis,
  openWebhook,
  readDelivery,
  recordAttempt,
} from '#store/webhook-store.ts';
import { startDueDeliveries } from '#temporal/start-deliveries.ts';
import { activityFailure, failingAs } from '../activity-failure.ts';
import type { Egress } from '../egress/egress.ts';
import { EgressError } from '../egress/egress-error.ts';
import type { MailDelivery } from '../mail/approval-mails.ts';

export interface WebhookDeps {
  readonly pool: Pool;
  readonly notifier: Pick<EventNotifier, 'whenDue'>;
  readonly reach: Pick<WorkflowReach, 'start'>;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly egress: Egress;
  readonly egressSettings: EgressSettings;
  readonly deliverMail: MailDelivery;
  readonly settings: { readonly retrySeconds: readonly number[]; readonly disableAfterDays: number };
}

/** A receiver that takes longer should answer first and work then, as the specification says. */
const LIMITS = { redirects: 0, bytes: 65_536, totalMs: 15_000, idleMs: 15_000 };

export function createWebhookRoom(deps: WebhookDeps): WebhookActivities {
  const { pool, reach, settings } = deps;
  const startDue = () => startDueDeliveries(pool, reach);
  deps.notifier.whenDue(startDue);
  return {
    deliver_webhook: failingAs(activityFailure, async ({ tenant, id }: DeliveryInput) => {
      const delivery = await readDelivery(pool, tenant, id);
      // Its webhook was deleted, or its session forgotten.
      if (!delivery) return { status: 'failed', attempts: 0 };
      const { status, attempts, wait } = delivery;
      if (status !== 'pending') return { status, attempts };
      if (wait > 0) return { status, attempts, wait };
      const record = await attempt(deps, tenant, delivery);
      const isFirst = await recordAttempt(pool, tenant, delivery, record, settings.disableAfterDays * 86_400);
      if (!isFirst) return reportOf(await readDelivery(pool, tenant, id));
      // The next of its session, and those for which there was no place beside it.
      await startDue();
      return { status: record.status, attempts: attempts + 1, wait: record.wait };
    }),
  };
}

function reportOf(delivery: DeliveryBasis | undefined): DeliveryReport {
  if (!delivery) return { status: 'failed', attempts: 0 };
  const { status, attempts, wait } = delivery;
  return { status, attempts, ...(status === 'pending' && { wait: Math.max(wait, 0) }) };
}

async function attempt(deps: WebhookDeps, tenant: string, delivery: DeliveryBasis): Promise<AttemptRecord> {
  const { webhook, stored, attempts } = delivery;
  const failed = { status: 'failed', answered: null } as const;
  if (!webhook.enabled) return { ...failed, problem: 'the webhook is disabled' };
  if (!stored) return { ...failed, problem: 'the event is no longer kept' };
  const isMail = mailAddressOf(webhook.url) !== undefined;
  const { answered, problem, isSilent } = isMail
    ? await deps.deliverMail(tenant, delivery, Context.current().cancellationSignal)
    : await post(deps, tenant, delivery, stored);
  if (problem === null || isSilent) return { status: 'delivered', answered, problem };
  // RFC 5321 §4.2.1: 55x is about this mail, which would be refused again, and others wait behind it.
  const isFinal = delivery.event === NOTIFY_TEST || (isMail && (answered ?? 0) >= 550);
  if (isFinal) return { ...failed, answered, problem };
  if (answered === 410 && !isMail) return { ...failed, answered, problem, gone: true };
  const wait = retryDelay(deps.settings.retrySeconds, attempts + 1, Math.random);
  return { status: wait === undefined ? 'failed' : 'pending', answered, problem, wait };
}

/** `problem` is null when it was taken. */
async function post(
  deps: WebhookDeps,
  tenant: string,
  { id, webhook }: DeliveryBasis,
  stored: NonNullable<DeliveryBasis['stored']>,
): Promise<Pick<AttemptRecord, 'answered' | 'problem'> & { readonly isSilent?: boolean }> {
  const body = JSON.stringify({ type: stored.type, timestamp: stored.at, data: stored });
  const now = new Date();
  const { secret, before } = openWebhook(deps.sealer, tenant, webhook);
  const secrets = before && Date.parse(before.until) > now.getTime() ? [secret, before.secret] : [secret];
  const rules = await tenantEgress(deps.pool, deps.egressSettings, tenant);
  const door = deps.egress.open({ tenant, purpose: 'webhook', rules, limits: LIMITS });
  const { cancellationSignal: signal } = Context.current();
  try {
    const response = await door.fetch(webhook.url, {
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
    // What it says is of no use to anybody.
    await response.body?.cancel();
    const { ok, status: answered } = response;
    return { answered, problem: ok ? null : `it answered ${answered}` };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof EgressError)) throw error;
    return { answered: null, problem: error.message.slice(0, 500) };
  } finally {
    await door.close();
  }
}
