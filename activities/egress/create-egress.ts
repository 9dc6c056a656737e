/**
 * The only way to the network: requests of tools, MCP servers, downloads and webhooks use it, and each exchange is
 * recorded in a row.
 */
import type { NewEgressRow } from '#store/egress-store.ts';
import {
  createEgress as createGuardedEgress,
  type Egress as GuardedEgress,
  type EgressDeps,
  type EgressProxy as GuardedProxy,
  type ProxyUse as GuardedProxyUse,
} from '@tempoclaw/egress';

/** The requester of an exchange, and its purpose. */
export interface Requester {
  readonly tenant: string;
  /** The tool's name, or another purpose: `mcp`, `webhook`. */
  readonly purpose: string;
  readonly callId?: string | undefined;
}

export type Egress = GuardedEgress<Requester>;
export type EgressProxy = GuardedProxy<Requester>;
export type ProxyUse = GuardedProxyUse<Requester>;

export interface CreateEgressOptions extends Pick<EgressDeps<Requester>, 'resolve'> {
  /** Writes a row. Never rejects, because the request already has its answer. */
  readonly record: (row: NewEgressRow) => Promise<void>;
}

export function createEgress({ resolve, record }: CreateEgressOptions): Egress {
  return createGuardedEgress({
    resolve,
    record: ({ labels: { tenant, purpose, callId = null }, ...exchange }) =>
      record({ tenant, purpose, call_id: callId, ...exchange }),
  });
}
