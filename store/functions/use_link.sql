-- Uses up the link, if any, by which the decision with this key comes; the caller holds the approval's lock. The same decision
-- again is let through. False: another decision has used it, or it has expired or was revoked.
create function use_link(p_tenant text, p_id text, p_key text) returns boolean
language plpgsql as $$
declare
  link text;
begin
  select link_id into link from decision_proofs where tenant_id = p_tenant and approval_id = p_id and key = p_key;
  if link is null then return true; end if;
  update approval_links set used_at = coalesce(used_at, now()), used_key = p_key
    where tenant_id = p_tenant and id = link and approval_id = p_id and revoked_at is null
      and (used_key = p_key or (used_key is null and expires_at > now()));
  return found;
end $$;
