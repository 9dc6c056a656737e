/** Registers a channel with its service, as far as the service allows that for a bot. Each step may be repeated. */
import type { ConnectChannel } from '../contract.ts';
import { SecretProblem } from '#domain/secret.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findChannel } from '../store/channel-store.ts';
import { EgressError } from '@tempoclaw/egress';
import { ChannelError } from './channel-error.ts';
import type { ConnectReport } from './channel-sender.ts';
import { type ChannelDeps, refusalWords, visitService } from './visit-service.ts';

/** Time limit of all requests together, because somebody waits for it. */
const CONNECT_MS = 25_000;

export function createConnectChannel(deps: ChannelDeps): ConnectChannel {
  return async (tenant, key, address) => {
    const channel = await findChannel(forTenant(deps.pool, tenant), key);
    if (!channel) return undefined;
    const report: ConnectReport = { account: null, done: [], todo: [] };
    if (address === undefined)
      report.todo.push(
        'set api.publicUrl, the https address by which the service reaches this API, and connect again',
      );
    const signal = AbortSignal.timeout(CONNECT_MS);
    const visit = visitService(
      deps,
      tenant,
      channel,
      (sender, context) => sender.connect(context, { address, settings: channel.settings }, report),
      { signal },
    );
    await visit.catch((error: unknown) => report.todo.push(problemOf(error, signal)));
    return report;
  };
}

/** What was done before the error stays done. */
function problemOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return `the service did not answer within ${CONNECT_MS / 1000} seconds: connect again`;
  if (error instanceof SecretProblem) return error.message;
  if (error instanceof ChannelError || error instanceof EgressError)
    return `${refusalWords(error)}: put it right and connect again`;
  throw error;
}
