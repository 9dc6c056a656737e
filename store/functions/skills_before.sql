-- Skills in use that calls of a step are judged by: a skill that starts in the same step applies from the next step on.
create function skills_before(p_skills jsonb, p_step int) returns jsonb
language sql immutable as $$
  select case when p_skills = '[]' then p_skills else (
    select coalesce(jsonb_agg(x), '[]') from jsonb_array_elements(p_skills) x where (x ->> 'step')::int < p_step) end
$$;
