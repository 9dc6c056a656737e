/** One connection to a chat service: an egress client for it alone, and its channel's credentials. */
import { Context } from '@temporalio/activity';
import type { ChannelType } from '../contract.ts';
import type { EgressSettings } from '#domain/policy/effective-egress.ts';
import { type ChannelRow, openChannel } from '../store/channel-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Sealer } from '#store/seal.ts';
import type { Egress } from '#activities/egress/create-egress.ts';
import type { EgressError } from '@tempoclaw/egress';
import { operatorRules } from '#activities/egress/operator-rules.ts';
import { ChannelError } from './channel-error.ts';
import type { ChannelSender, SendContext } from './channel-sender.ts';
import { SENDERS } from './senders.ts';

export interface ChannelDeps {
  readonly pool: Pool;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly resolveOf: (tenant: string, text: string) => Promise<string>;
  readonly egress: Egress;
  readonly egressSettings: EgressSettings;
  readonly services: Readonly<Partial<Record<ChannelType, { readonly baseUrl?: string }>>>;
}

/** The operation to run there. */
export type SendOperation = (sender: ChannelSender, context: SendContext) => Promise<void>;

export interface VisitOptions {
  /** Largest answer in bytes. */
  readonly bytes?: number;
  /** The activity's signal unless it is set. */
  readonly signal?: AbortSignal;
}

/**
 * A file of the largest size takes this long at 1 MB a second. During an upload nothing is received, which counts as
 * idle.
 */
const LIMITS = { redirects: 0, totalMs: 60_000, idleMs: 60_000 };
/**
 * Time limit of all requests together, below that of an activity and of an attempt at a delivery. Beyond that limit,
 * nothing would be recorded.
 */
const VISIT_MS = 100_000;
const ANSWER_BYTES = 1_048_576;

/** @throws ChannelError, EgressError */
export async function visitService(
  { sealer, resolveOf, egress, egressSettings, services }: ChannelDeps,
  tenant: string,
  channel: ChannelRow,
  visit: SendOperation,
  { bytes = ANSWER_BYTES, signal = Context.current().cancellationSignal }: VisitOptions = {},
): Promise<void> {
  const sender = SENDERS[channel.type];
  if (!sender)
    throw new ChannelError(`there is no service behind a channel of type ${channel.type}`, {
      status: 0,
      isFinal: true,
    });
  const own = services[channel.type]?.baseUrl;
  const baseUrl = (own ?? sender.usualUrl).replace(/\/+$/, '');
  const rules = operatorRules({ url: baseUrl, isOwn: own !== undefined }, egressSettings);
  const client = egress.open({ labels: { tenant, purpose: 'channel' }, rules, limits: { ...LIMITS, bytes } });
  const late = AbortSignal.timeout(VISIT_MS);
  try {
    const credentials = await openChannel(sealer, resolveOf, tenant, channel);
    await visit(sender, { client, credentials, baseUrl, signal: AbortSignal.any([signal, late]) });
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) throw new ChannelError(`it took longer than ${VISIT_MS / 1000} seconds`, { status: 0 });
    throw error;
  } finally {
    await client.close();
  }
}

/** Removes addresses from errors, because they may contain a token. */
export function refusalWords({ message }: ChannelError | EgressError): string {
  return message.replace(/\/bot[^/\s]+/g, '/bot…').slice(0, 500);
}
