/** Approvals that ask users for logins. */
import type { McpForm } from '#domain/form.ts';
import { readRows } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';

export interface WaitingLogin {
  readonly tenant: string;
  readonly approval: string;
  readonly user: string;
}

/** How many one login decides, or one look of the sweep. */
export const MAX_LOGINS = 200;

/** Those that this login of the user is for. */
export function waitingLogins(
  db: TenantDb,
  { login, server, user }: Required<Pick<McpForm, 'login' | 'server'>> & { readonly user: string },
): Promise<WaitingLogin[]> {
  return readRows<WaitingLogin>(db)`
    select tenant_id as tenant, id as approval, user_id as user from approvals
    where tenant_id = ${db} and status = 'pending' and user_id = ${user}
      and form ->> 'login' = ${login} and form ->> 'server' = ${server} limit ${MAX_LOGINS}`;
}
