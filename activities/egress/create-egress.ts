/** The one way out (SECURITY R5): what a tool, an MCP server, a download or a webhook requests goes through it, and each exchange has a row. */
import type { NewEgressRow } from '#store/egress-store.ts';
import {
  createEgress as createGuardedEgress,
  type Egress as GuardedEgress,
  type EgressDeps,
  type EgressProxy as GuardedProxy,
  type ProxyUse as GuardedProxyUse,
} from '@tempoclaw/egress';

/** Whose exchange it is, and what for. */
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
  /** Keeps a row. Never rejects: the request has its answer already. */
  readonly record: (row: NewEgressRow) => Promise<void>;
}

export function createEgress({ resolve, record }: CreateEgressOptions): Egress {
  return createGuardedEgress({
    resolve,
    record: ({ labels: { tenant, purpose, callId = null }, ...exchange }) =>
      record({ tenant, purpose, call_id: callId, ...exchange }),
  });
}
