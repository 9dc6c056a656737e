/** Whose memory a request of the API means. */
import type { DocumentScope } from '#domain/files/document.ts';
import { Failure } from '#domain/errors.ts';
import type { Caller } from '#api/server/auth.ts';
import { findAgent } from '#store/agent-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

interface OwnerRequest {
  readonly tenant: string;
  readonly caller: Caller;
  readonly params: { readonly key: string };
  readonly query: { readonly user?: string | undefined };
}

/**
 * Returns undefined if there is no such agent. @throws Failure Forbidden for a user's key that requests another user's
 */
export async function memoryOwner(
  pool: Pool,
  { tenant, caller, params: { key }, query }: OwnerRequest,
): Promise<DocumentScope | undefined> {
  const { confinedTo } = caller;
  const user = query.user ?? confinedTo;
  if (confinedTo !== null && user !== confinedTo)
    throw new Failure('Forbidden', 'A key of one user does not see the memory of others');
  return (await findAgent(forTenant(pool, tenant), key)) && { tenant, agent: key, user };
}
