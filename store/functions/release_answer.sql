-- Hands an answer out that was withheld while its gates judged it, with what they warn of (DE-6). Runs again safely.
create function release_answer(p_tenant text, p_session text, p_turn text, p_step int, p_warnings jsonb) returns void
language plpgsql as $$
declare
  answer messages%rowtype;
  told text;
begin
  perform 1 from sessions where tenant_id = p_tenant and key = p_session for update;
  select * into answer from messages
    where tenant_id = p_tenant and turn_id = p_turn and step = p_step and role = 'assistant';
  if not found then return; end if;
  told := concat_ws(E'\n\n', nullif(answer.text, ''), (
    select string_agg(w, E'\n\n' order by n) from jsonb_array_elements_text(p_warnings) with ordinality as x (w, n)));
  update turns set text = told
    where tenant_id = p_tenant and id = p_turn and ended_at is null and text is distinct from told;
  if not found then return; end if;
  perform append_events(p_tenant, p_session, p_turn, jsonb_build_array(jsonb_build_object('type', 'message.completed',
    'data', jsonb_build_object('message_id', answer.id, 'text', told, 'step', p_step))));
end $$;
