-- The roles that two messages both have: a turn has no right that one of its messages lacks. Null says nothing, as in a
-- message that did not come over our API.
create function common_roles(p_one jsonb, p_other jsonb) returns jsonb
language sql immutable as $$
  select case when p_one is null or p_other is null then coalesce(p_one, p_other)
    else (select coalesce(jsonb_agg(role), '[]') from jsonb_array_elements(p_one) role where p_other @> jsonb_build_array(role)) end
$$;
