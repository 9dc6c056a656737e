-- Who agreed to a call with exactly these arguments, each person once, in the order in which they did.
create function agreed_by(p_tenant text, p_id text, p_digest text) returns text[]
language sql stable as $$
  select coalesce(array_agg(by order by at, by), '{}') from (
    select distinct on (person) person, by, at from approval_decisions
    where tenant_id = p_tenant and approval_id = p_id and digest = p_digest and person is not null
    order by person, at) people
$$;
