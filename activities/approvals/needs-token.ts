/**
 * Whether what is asked now must be decided with a token. A command that runs in no box, or on a node that works on a task queue,
 * reaches Temporal like any client of it, and could approve what its own agent asks.
 */
import type { AgentConfig } from '#domain/agent.ts';
import { sandboxOf } from '#domain/sandbox.ts';
import type { CallDeps } from '../tool-call/call-deps.ts';

/** Asked only when something is put to people. */
export type NeedsToken = (tenant: string) => Promise<boolean>;

/** Where commands run on this worker stands for all of them. */
export interface NeedsTokenParts extends Pick<CallDeps, 'sandbox' | 'placeOf'> {
  readonly required: boolean | 'auto';
  /** Whether what any tenant has joined is a client of this Temporal: it reaches the approvals of all. */
  readonly hasTemporalClients: () => Promise<boolean>;
  /** The settings of the tenant's agents, each once; null for those that have none. */
  readonly sandboxesOf: (tenant: string) => Promise<readonly (NonNullable<AgentConfig['sandbox']> | null)[]>;
}

export function createNeedsToken({
  required,
  hasTemporalClients,
  sandbox,
  placeOf,
  sandboxesOf,
}: NeedsTokenParts): NeedsToken {
  const isOpen = async (own: AgentConfig['sandbox'] | null): Promise<boolean> => {
    const place = await placeOf(own);
    // With a network bubblewrap's is this machine's; a container has one of its own.
    return place === 'host' || (place === 'system' && sandboxOf(sandbox, own ?? undefined)?.network === true);
  };
  return async (tenant) => {
    if (required !== 'auto') return required;
    if (await hasTemporalClients()) return true;
    if (sandbox.mode === 'required') return false;
    if (await isOpen(null)) return true;
    for (const own of await sandboxesOf(tenant)) if (await isOpen(own)) return true;
    return false;
  };
}
