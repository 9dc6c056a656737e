/** A forgotten user or session is named by no rollout any more. */
import { sql } from 'kysely';
import type { RowPart } from '#store/row-parts.ts';

const without = (tenant: string, list: 'users' | 'sessions', name: string) => ({
  change: sql`update agents set rollout = jsonb_set(rollout, array[${list}], (rollout -> ${list}) - ${name}::text)
    where tenant_id = ${tenant} and rollout is not null and rollout -> ${list} ? ${name}`,
});

export const rowPart: RowPart = {
  ofSession: ({ tenant, session }) => [without(tenant, 'sessions', session)],
  ofUser: ({ tenant, user }) => ({ after: [without(tenant, 'users', user)] }),
};
