/** Makes one attempt at a delivery: one signed POST, or what another feature sends in its place. */
import { Webhook } from 'standardwebhooks';
import type { EgressSettings } from '#domain/policy/effective-egress.ts';
import { readRetryAfter } from '#domain/net/retry-after.ts';
import { fillSecretsOfUrl } from '#domain/secret.ts';
import { NOTIFY_TEST, retryDelay } from './contract.ts';
import { tenantEgress } from '#policy/tenant-egress.ts';
import { traceparentFrom } from '#store/turns/span-ids.ts';
import { type DeliveryBasis, readDelivery } from './store/delivery-store.ts';
import { type AttemptRecord, type Claim, recordAttempt } from './store/delivery-queue-store.ts';
import type { Deliverer, DeliveryOutcome } from './deliverer.ts';
import { openWebhook } from './store/webhook-store.ts';
import type { Egress } from '#activities/egress/create-egress.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { ScrubberOf } from '#store/secrets/scrubber.ts';
import type { Sealer } from '#store/seal.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { EgressError } from '@tempoclaw/egress';

export interface AttemptDeps {
  readonly pool: Pool;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly scrubberOf: ScrubberOf;
  /** Replaces `secret://NAME` with secrets. */
  readonly resolveOf: (tenant: string, text: string) => Promise<string>;
  readonly egress: Egress;
  readonly egressSettings: EgressSettings;
  readonly deliverers: () => readonly Deliverer[];
  readonly settings: { readonly retrySeconds: readonly number[]; readonly disableAfterDays: number };
}

/** Longest wait that a receiver can request. */
const MAX_PATIENCE_MS = 3_600_000;
/** A chat service that is away is retried each minute, because all later posts of the chat wait for this one. */
const CHANNEL_WAIT_MS = 60_000;
/** An endpoint whose breaker is open is probed at least this often, so that its return is noticed soon. */
const LONGEST_PROBE_MS = 300_000;
/** Longer than whatever delivers in place of a POST needs. */
const ATTEMPT_MS = 120_000;
/** After an error of this installation. */
const ERROR_WAIT_MS = 30_000;

/** Seconds: a century. */
const ENDLESS = 3_153_600_000;

/** Answers with which a receiver may say when to retry (RFC 6585, 4; RFC 9110, 15.6.4). */
const NOT_NOW: readonly number[] = [429, 503];

/** A receiver that takes longer should answer first and work then, as the specification says. */
const LIMITS = { redirects: 0, bytes: 65_536, totalMs: 15_000, idleMs: 15_000 };

/** Makes and records the attempt. Rejects when `signal` ends the claim; then another claim repeats it with its id. */
export async function attemptDelivery(
  deps: AttemptDeps,
  db: TenantDb,
  claim: Claim,
  signal: AbortSignal,
): Promise<void> {
  const delivery = await readDelivery(db, claim.id);
  // Its webhook was deleted, or its session forgotten.
  if (!delivery) return;
  const record = await attempt(deps, db.tenant, delivery, signal);
  const { retrySeconds, disableAfterDays } = deps.settings;
  const isChannel = delivery.webhook.channel_key !== null;
  const first = Math.min((retrySeconds[0] ?? 5) * 1_000, CHANNEL_WAIT_MS);
  await recordAttempt(db, delivery, claim.fence, record, {
    probes: { first, longest: isChannel ? CHANNEL_WAIT_MS : LONGEST_PROBE_MS },
    // A channel that is away loses nothing, so it stays on.
    disableAfter: isChannel ? ENDLESS : disableAfterDays * 86_400,
  });
}

async function attempt(
  deps: AttemptDeps,
  tenant: string,
  delivery: DeliveryBasis,
  signal: AbortSignal,
): Promise<AttemptRecord> {
  if (!delivery.stored && !delivery.post)
    return { status: 'failed', answered: null, problem: 'the event is no longer kept' };
  const late = AbortSignal.timeout(ATTEMPT_MS);
  try {
    return recordOf(deps, delivery, await notify(deps, tenant, delivery, AbortSignal.any([signal, late])));
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted)
      return recordOf(deps, delivery, {
        answered: null,
        problem: `it took longer than ${ATTEMPT_MS / 1000} s`,
      });
    // It says nothing about the endpoint, and is no try.
    const { preview } = await deps.scrubberOf(tenant);
    const problem = preview(`not sent: ${error instanceof Error ? error.message : String(error)}`, 500);
    return { status: 'pending', answered: null, problem, wait: ERROR_WAIT_MS, isWait: true };
  }
}

/** A receiver that says when to retry, or refuses this delivery for good, is available. */
function recordOf(
  { settings }: AttemptDeps,
  delivery: DeliveryBasis,
  { answered, problem, retryAfter, isSilent, isFinal, isGone }: DeliveryOutcome,
): AttemptRecord {
  if (isSilent) return { status: 'delivered', answered, problem };
  if (problem === null) return { status: 'delivered', answered, problem, works: true };
  const isWait = retryAfter !== undefined;
  const works = isWait || (isFinal === true && answered !== null);
  if (isFinal || isGone || delivery.event === NOTIFY_TEST)
    return { status: 'failed', answered, problem, gone: isGone === true, works };
  const wait = waitOf(settings.retrySeconds, delivery, retryAfter);
  // A chat service means one chat; a receiver of webhooks means all that it gets.
  const pause = isWait && delivery.webhook.channel_key === null ? wait : undefined;
  return { status: wait === undefined ? 'failed' : 'pending', answered, problem, wait, isWait, works, pause };
}

/** Returns undefined if it is given up. What a receiver asks to wait does not count as a try. */
function waitOf(
  retrySeconds: readonly number[],
  { attempts, waits, webhook }: DeliveryBasis,
  retryAfter: number | undefined,
): number | undefined {
  if (retryAfter !== undefined) return Math.min(Math.max(retryAfter, 1_000), MAX_PATIENCE_MS);
  const usual = retryDelay(retrySeconds, attempts + 1 - waits, Math.random);
  return webhook.channel_key === null ? usual : Math.min(usual ?? CHANNEL_WAIT_MS, CHANNEL_WAIT_MS);
}

async function notify(
  deps: AttemptDeps,
  tenant: string,
  delivery: DeliveryBasis,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const { webhook, stored } = delivery;
  const deliverer = deps.deliverers().find((one) => one.takes(webhook));
  if (deliverer) return deliverer.deliver(tenant, delivery, signal);
  if (!stored || !/^https?:/.test(webhook.url))
    return { answered: null, problem: 'nothing of this installation delivers there', isFinal: true };
  const outcome = await post(deps, tenant, delivery, stored, signal);
  return { ...outcome, isGone: outcome.answered === 410 };
}

/** `problem` is null when it was accepted. */
async function post(
  deps: AttemptDeps,
  tenant: string,
  { id, webhook, trace }: DeliveryBasis,
  stored: NonNullable<DeliveryBasis['stored']>,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const body = JSON.stringify({ type: stored.type, timestamp: stored.at, data: stored });
  const now = new Date();
  const { secret, before } = openWebhook(deps.sealer, tenant, webhook);
  const secrets = before && Date.parse(before.until) > now.getTime() ? [secret, before.secret] : [secret];
  const traceparent = traceparentFrom(tenant, { trace }, stored.turn_id ?? id);
  const url = await fillSecretsOfUrl(webhook.url, (reference) => deps.resolveOf(tenant, reference));
  const rules = await tenantEgress(deps.pool, deps.egressSettings, tenant);
  const client = deps.egress.open({ labels: { tenant, purpose: 'webhook' }, rules, limits: LIMITS });
  try {
    const response = await client.fetch(url, {
      method: 'POST',
      body,
      signal,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'TempoClaw-Webhooks/1',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        ...(traceparent !== undefined && { traceparent }),
        'webhook-signature': secrets.map((one) => new Webhook(one).sign(id, now, body)).join(' '),
      },
    });
    // The response body is not needed.
    await response.body?.cancel();
    const { ok, status: answered, headers } = response;
    const retryAfter = NOT_NOW.includes(answered)
      ? readRetryAfter(headers.get('retry-after'), Date.now())
      : undefined;
    return { answered, problem: ok ? null : `it answered ${answered}`, retryAfter };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof EgressError)) throw error;
    return { answered: null, problem: error.message.slice(0, 500) };
  } finally {
    await client.close();
  }
}
