/**
 * Whether a new approval requires a decision token. A command that runs in no sandbox, or on a node with a task queue,
 * can reach Temporal like any client, and could approve its own agent's requests.
 */
import type { AgentConfig } from '#domain/agent.ts';
import { sandboxOf } from '#domain/sandbox.ts';
import type { CallDeps } from '../tool-call/call-deps.ts';

/** Called only when people are asked. */
export type NeedsToken = (tenant: string) => Promise<boolean>;

/** The places of commands on this worker are assumed to be those of all workers. */
export interface NeedsTokenParts extends Pick<CallDeps, 'sandbox' | 'placeOf'> {
  readonly required: boolean | 'auto';
  /**
   * Whether something that any tenant has connected is a client of this Temporal server: it can reach the approvals of
   * all tenants.
   */
  readonly hasTemporalClients: () => Promise<boolean>;
  /** Sandbox settings of the tenant's agents, each once; null for agents without any. */
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
    // With network access, bubblewrap uses this machine's network; a container has its own.
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
