-- What the loop must know of an approval that an attempt of its call has made (ask_again).
create function asked_again(a approvals) returns jsonb
language sql stable as $$
  select jsonb_build_object('approval', a.id, 'expires', extract(epoch from a.expires_at - a.created_at)::int,
    'until', round(extract(epoch from a.expires_at) * 1000), 'terms', a.terms, 'always', a.always, 'files', a.files)
$$;
