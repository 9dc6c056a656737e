-- Starts a step: takes messages into the turn, settles the previous calls, and returns everything that the model call
-- needs. Safe to repeat: what was taken stays taken. It only reads when there is nothing to take, settle or reserve
-- (p_budget, DU-7). `settle` in p_budget ({holder, attempt, spent}) is a reservation to settle before: it is done here,
-- because accounts are locked after all sessions.
create function begin_step(
  p_tenant text, p_session text, p_turn text, p_step int, p_messages jsonb, p_settled jsonb, p_after bigint,
  p_summary_after bigint, p_default_agent text, p_run text,
  p_budget jsonb default null
) returns jsonb
language plpgsql as $$
declare
  turn_row turns%rowtype;
  session_row sessions%rowtype;
  agent_row agents%rowtype;
  answer messages%rowtype;
  budget jsonb;
  read jsonb;
begin
  -- No turn of a frozen tenant starts: the attempt fails until the tenant is thawed.
  if p_step = 1 and jsonb_array_length(p_messages) > 0
    and exists (select from tenants where id = p_tenant and frozen_at is not null)
    and not exists (select from turns where tenant_id = p_tenant and id = p_turn and started_at is not null) then
    raise exception 'the tenant % is frozen, so the turn % waits', p_tenant, p_turn using errcode = '55000';
  end if;
  if jsonb_array_length(p_messages) > 0 and not
    take_messages(p_tenant, p_session, p_turn, p_step, p_messages, p_default_agent, p_run) then
    return jsonb_build_object('duplicate', true, 'ended', (
      select jsonb_strip_nulls(jsonb_build_object('status', status, 'preview', left(coalesce(text, ''), 500), 'error', error))
      from turns where tenant_id = p_tenant and id = p_turn and session_key = p_session and ended_at is not null));
  end if;
  if jsonb_array_length(p_settled) > 0 then perform settle_calls(p_tenant, p_session, p_turn, p_settled); end if;

  select * into session_row from sessions where tenant_id = p_tenant and key = p_session;
  select * into turn_row from turns where tenant_id = p_tenant and id = p_turn;
  select * into agent_row from agents where tenant_id = p_tenant and key = session_row.agent_key;
  select * into answer from messages where tenant_id = p_tenant and turn_id = p_turn and step = p_step and role = 'assistant';
  -- The prompt of each step shows documents, so their outside sources count for the calls that it requests.
  read := documents_read(p_tenant, agent_row.key, turn_row.context ->> 'user');
  if read is not null and not session_row.used ?& array(select jsonb_object_keys(read)) then
    perform note_used(p_tenant, p_session, read);
    select * into session_row from sessions where tenant_id = p_tenant and key = p_session;
  end if;
  if p_budget ? 'holder' and answer.id is null and has_budgets(p_tenant, agent_row.key,
      coalesce(turn_row.budget_root, session_row.budget_root), p_budget) then
    budget := reserve_budget(p_tenant, p_session, p_turn, p_budget ->> 'holder', coalesce((
      select jsonb_strip_nulls(jsonb_build_object('usd', m.usd,
               'tokens', (m.usage ->> 'inputTokens')::bigint + (m.usage ->> 'outputTokens')::bigint))
      from messages m where m.tenant_id = p_tenant and m.session_key = p_session and m.position is not null
        and m.role = 'assistant' order by m.position desc limit 1), '{}'), p_budget);
  elsif p_budget ? 'settle' then
    perform settle_budget(p_tenant, p_budget #>> '{settle,holder}', (p_budget #>> '{settle,attempt}')::int,
      p_budget #> '{settle,spent}');
  end if;
  return jsonb_build_object(
    'budget', budget,
    'agent', (select config from agent_revisions r where r.tenant_id = p_tenant and r.agent_key = agent_row.key
              and r.revision = coalesce(turn_row.agent_revision, agent_row.revision)),
    'agent_key', session_row.agent_key,
    'leads', (select jsonb_agg(jsonb_build_object('key', l.key, 'name', l.name, 'description', l.description, 'lead', l.lead,
        'members', (select coalesce(jsonb_agg(m.agent_key order by m.agent_key), '[]') from team_members m
          where m.tenant_id = p_tenant and m.team_key = l.key)) order by l.key)
      from teams l where l.tenant_id = p_tenant and l.lead = session_row.agent_key and l.deleted_at is null),
    'links', agent_row.links,
    'sandbox', agent_row.config -> 'sandbox',
    'agent_current', agent_row.revision = coalesce(turn_row.agent_revision, agent_row.revision),
    'user', turn_row.context ->> 'user',
    'context', turn_row.context,
    'documents', documents_version(p_tenant, session_row.agent_key, turn_row.context ->> 'user'),
    'skills', coalesce(skills_before(turn_row.skills, p_step), '[]'),
    'tenant_policy', (select policy from tenants where id = p_tenant),
    'now', extract(epoch from clock_timestamp()) * 1000,
    'used', used_before(session_row.used),
    'tools_version', coalesce((select version from changes where tenant_id = p_tenant and kind = 'custom_tools'), 0),
    'spent', jsonb_build_object('input', turn_row.input_tokens, 'output', turn_row.output_tokens,
                                'usd', turn_row.cost_usd, 'unpriced', turn_row.unpriced_calls),
    'summary', case when session_row.summary_position > p_summary_after then session_row.summary end,
    'summary_position', session_row.summary_position,
    'since', session_row.created_at,
    'recorded', case when answer.id is null then null else jsonb_build_object(
      'text', answer.text, 'finish', answer.finish, 'model', answer.model, 'ended', turn_row.ended_at is not null,
      'unheard', exists (select from messages x where x.tenant_id = p_tenant and x.session_key = p_session
                           and x.position > answer.position and x.turn_id = p_turn and x.role = 'user'),
      'calls', (select coalesce(jsonb_agg(jsonb_build_object(
                 'id', c.id, 'tool', c.tool, 'args', c.args, 'sealed', encode(c.args_sealed, 'base64'),
                 'approval', c.approval_id, 'state', c.state, 'digest', a.digest, 'terms', a.terms,
                 'always', a.always, 'files', a.files,
                 'expires', extract(epoch from a.expires_at - a.created_at)::int,
                 'until', extract(epoch from a.expires_at) * 1000) order by c.index), '[]')
               from tool_calls c left join approvals a on a.tenant_id = p_tenant and a.id = c.approval_id
               where c.tenant_id = p_tenant and c.turn_id = p_turn and c.step = p_step)) end,
    'transcript', (select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                 'position', x.position, 'role', x.role, 'text', x.text, 'turn', x.turn_id, 'step', x.step, 'user',
                 case when x.role = 'user' then (select t.context ->> 'user' from turns t where t.tenant_id = p_tenant and t.id = x.turn_id) end, 'calls',
                 case when x.role = 'assistant' and x.calls is not null then (
                   select jsonb_agg(jsonb_build_object('id', c.id, 'name', c.called_as, 'args', c.args,
                     'sealed', encode(c.args_sealed, 'base64'), 'ok', c.ok, 'state', c.state, 'digest', c.digest,
                     'result', c.result, 'images', c.images) order by c.index)
                   from tool_calls c where c.tenant_id = p_tenant and c.turn_id = x.turn_id and c.step = x.step) end
                 , 'attachments', x.attachments, 'hooked', x.hooked, 'invoke', case when x.role = 'user' then x.calls end)) order by x.position), '[]')
               from messages x where x.tenant_id = p_tenant and x.session_key = p_session
                 and x.position > greatest(p_after, session_row.summary_position)
                 and (x.turn_id <> p_turn or x.step < p_step or x.role = 'user')),
    'allowlist', allowlist_of(p_tenant, session_row.agent_key, turn_row.context ->> 'user')
  );
end $$;
