/** Which approvals a viewer sees, and which the viewer may decide. */
import { type RawBuilder, sql } from 'kysely';
import { approverNames } from '#domain/approval/approval-terms.ts';

/** The viewer, as the credential proves it. */
export interface Viewer {
  /** Null for a service's key, which sees the whole tenant. */
  readonly user: string | null;
  readonly scopes: ReadonlySet<string>;
  /** Groups that an identity provider has the viewer in. */
  readonly groups?: readonly string[];
}

/**
 * What a key may do with an approval's row: 'decide', 'see', or null when the row does not exist for that key. A user's
 * key sees rows of that user or of nobody, and rows that name that user. A key without a user, and an admin's, see the
 * whole tenant. This is only for listing; the decision itself is judged again (domain/approval/approval-decider.ts).
 */
export function maySee(viewer: Viewer): RawBuilder<unknown> {
  const user = sql`${viewer.user}::text`;
  const names = sql`${[...approverNames(viewer)]}::text[]`;
  const scopes = sql`${[...viewer.scopes]}::text[]`;
  return sql`
  with asked as (
    select coalesce((approvals.terms ->> 'quorum')::int, 1) > 1 or coalesce((approvals.terms ->> 'exclude_requester')::boolean, false) as counts,
           approvals.terms -> 'approvers' as approvers,
           case when approvals.escalated_at is not null then approvals.terms #> '{escalate,to}' end as others
  ), known as (
    select counts, approvers is not null or counts as bound,
      coalesce(case when approvers is null then counts and 'approve' = any (${scopes})
        else coalesce(approvers -> 'users' ?| ${names}, false) or coalesce(approvers -> 'scopes' ?| ${scopes}, false) end, false) as named,
      coalesce(others -> 'users' ?| ${names}, false) or coalesce(others -> 'scopes' ?| ${scopes}, false) as called,
      ${user} is null or approvals.user_id is null or approvals.user_id = ${user} as own,
      coalesce((approvals.terms ->> 'exclude_requester')::boolean, false) and approvals.user_id = ${user} as excluded
    from asked
  )
  select case
    when (case when bound then named or called else own or called or 'admin' = any (${scopes}) end)
         and not (counts and ${user} is null) and excluded is not true then 'decide'
    when own or named or called or 'admin' = any (${scopes}) then 'see'
  end from known`;
}
