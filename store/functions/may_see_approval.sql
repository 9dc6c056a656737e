-- What a key may do with an approval: 'decide', 'see', or null, when it does not even exist for that key. A key with a user sees
-- what is its user's or nobody's, and what names it; a key without one, and an admin's, see the whole tenant. Whether somebody
-- may really decide is judged again when he does (domain/approval-decider.ts); this is for looking.
create function may_see_approval(a approvals, p_user text, p_scopes text[]) returns text
language sql stable as $$
  with asked as (
    select coalesce((a.terms ->> 'quorum')::int, 1) > 1 or coalesce((a.terms ->> 'exclude_requester')::boolean, false) as counts,
           a.terms -> 'approvers' as approvers,
           case when a.escalated_at is not null then a.terms #> '{escalate,to}' end as others
  ), known as (
    select counts, approvers is not null or counts as bound,
      coalesce(case when approvers is null then counts and 'approve' = any (p_scopes)
        else coalesce(approvers -> 'users' ? p_user, false) or coalesce(approvers -> 'scopes' ?| p_scopes, false) end, false) as named,
      coalesce(others -> 'users' ? p_user, false) or coalesce(others -> 'scopes' ?| p_scopes, false) as called,
      p_user is null or a.user_id is null or a.user_id = p_user as own,
      coalesce((a.terms ->> 'exclude_requester')::boolean, false) and a.user_id = p_user as excluded
    from asked
  )
  select case
    when (case when bound then named or called else own or called or 'admin' = any (p_scopes) end)
         and not (counts and p_user is null) and excluded is not true then 'decide'
    when own or named or called or 'admin' = any (p_scopes) then 'see'
  end from known
$$;
