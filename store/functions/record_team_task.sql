-- Writes one change that a task's workflow has decided: row, audit event, texts and files that came with it. A revision is
-- written once, so a repeat gets the same answer; so does who decides something else at a revision that is there already,
-- because a worker died after it was written and before Temporal knew: the answer says what stands. What a task is to wait
-- for is checked here, one team at a time, since two tasks may be made to wait for each other at the same moment.
-- Work of an agent with quality gates for tasks is not recorded as done before they have judged it (DE-6), where who asks knows
-- that answer; what is handed in to them is unseen until it has passed.
-- kind: recorded (task, changes, dependents, open_blockers, status, tells) | refused (message: a cycle or an unknown blocker)
--       | gated (agent_revision, gates: all that the agent has) | missing
create function record_team_task(p_tenant text, p_team text, p_number int, p_change jsonb) returns jsonb
language plpgsql as $$
declare
  t team_tasks%rowtype;
  s jsonb := p_change -> 'task';
  rev int := (p_change #>> '{task,revision}')::int;
  asked int[];
  closing boolean := p_change #>> '{task,status}' in ('completed', 'failed', 'cancelled');
  handed_in boolean := p_change ->> 'action' = 'hand_in';
  worker agents%rowtype;
begin
  if p_change ? 'blocked_by' or closing then
    perform 1 from teams where tenant_id = p_tenant and key = p_team for update;
  end if;
  select * into t from team_tasks where tenant_id = p_tenant and team_key = p_team and number = p_number for update;
  if not found then return jsonb_build_object('kind', 'missing'); end if;
  if t.revision < rev then
    -- Never within a judgement.
    if p_change ? 'may_be_gated' and 'true' not in (coalesce(t.origin_context #> '{delegation,ungated}', 'false'),
        coalesce(t.origin_context #> '{team,ungated}', 'false')) then
      select * into worker from agents where tenant_id = p_tenant and key = coalesce(s ->> 'owner', s ->> 'assignee') and deleted_at is null;
      if worker.config -> 'quality_gates' @> '[{"event":"task.completed"}]' then
        return jsonb_build_object('kind', 'gated', 'agent_revision', worker.revision, 'gates', worker.config -> 'quality_gates');
      end if;
    end if;
    if p_change ? 'blocked_by' then
      asked := array(select distinct value::int from jsonb_array_elements_text(p_change -> 'blocked_by'));
      if (select count(*) from team_tasks where tenant_id = p_tenant and team_key = p_team and number = any (asked)) < cardinality(asked) then
        return jsonb_build_object('kind', 'refused', 'message', 'blocked_by contains invalid task ID: no such task of this team');
      end if;
      if exists (with recursive before (number) as (
            select unnest(asked)
            union select b.blocker from team_task_blockers b join before x on b.number = x.number
              where b.tenant_id = p_tenant and b.team_key = p_team)
          select 1 from before where number = p_number) then
        return jsonb_build_object('kind', 'refused', 'message', 'these tasks would wait for each other for ever (a cycle in blocked_by)');
      end if;
      delete from team_task_blockers where tenant_id = p_tenant and team_key = p_team and number = p_number;
      insert into team_task_blockers select p_tenant, p_team, p_number, unnest(asked);
      s := s || jsonb_build_object('open_blockers', (select coalesce(jsonb_agg(number order by number), '[]') from team_tasks
        where tenant_id = p_tenant and team_key = p_team and number = any (asked) and status <> 'completed'));
      s := s || jsonb_build_object('status', case when jsonb_array_length(s -> 'open_blockers') > 0 then 'blocked' else 'pending' end);
    end if;
    -- Where the checks of its gates are told and what they use is counted; a member's turn may have opened it before.
    if handed_in then
      insert into sessions (tenant_id, key, agent_key, user_id, channel, title, bound_context, budget_root)
        values (p_tenant, p_change ->> 'session', s ->> 'owner', t.origin_context ->> 'user', 'teammate',
          left('#' || p_number || ' ' || t.subject, 80), jsonb_build_object('team', jsonb_build_object('key', p_team,
            'number', p_number, 'member', s ->> 'owner', 'fence', (s ->> 'fence')::int)),
          team_root_of(p_tenant, p_team, t.origin_session, t.origin_turn))
        on conflict do nothing;
    end if;
    -- A text of a foreign client comes with its update; one of ours is a row already.
    if p_change #>> '{text,text}' is not null then
      insert into team_comments (tenant_id, id, team_key, number, kind, author, text, revision)
        values (p_tenant, 'text_' || p_team || '.' || p_number || '.' || rev, p_team, p_number, p_change #>> '{text,as}',
          p_change ->> 'actor', p_change #>> '{text,text}', case when not handed_in then rev end);
    elsif not handed_in then
      update team_comments set revision = rev, kind = p_change #>> '{text,as}'
        where tenant_id = p_tenant and id = p_change #>> '{text,id}' and team_key = p_team and number = p_number and revision is null;
    end if;
    if p_change ? 'warnings' then
      update team_comments set text = concat_ws(E'\n\n', nullif(text, ''), (select string_agg(w, E'\n\n' order by n)
          from jsonb_array_elements_text(p_change -> 'warnings') with ordinality as x (w, n)))
        where tenant_id = p_tenant and id = p_change #>> '{text,id}' and revision = rev;
    end if;
    if p_change ? 'judged' then perform count_turn_holds(p_tenant, p_change ->> 'judged'); end if;
    if p_change ? 'result_of' then
      insert into team_comments (tenant_id, id, team_key, number, kind, author, text, revision)
        select p_tenant, 'text_' || u.id, p_team, p_number, 'result', 'agent:' || u.agent_key,
            coalesce(nullif(u.text, ''), '(no result)'), rev
          from turns u where u.tenant_id = p_tenant and u.id = p_change ->> 'result_of'
        on conflict (tenant_id, id) do update set revision = rev, kind = 'result' where team_comments.revision is null;
    end if;
    update team_task_files set revision = rev where tenant_id = p_tenant and id = p_change ->> 'file_id'
      and team_key = p_team and number = p_number and revision is null;
    update team_tasks set state = s, revision = rev, subject = s ->> 'subject', status = s ->> 'status',
        assignee = s ->> 'assignee', owner = s ->> 'owner', priority = (s ->> 'priority')::int,
        percent = (s ->> 'percent')::int,
        -- Of these the event's reason is a name or a number.
        reason = case when p_change ->> 'action' in ('dispatch', 'assign', 'retry', 'unblock') then reason
                      else coalesce(p_change ->> 'reason', reason) end,
        description = coalesce((select c.text from team_comments c where c.tenant_id = p_tenant and c.id = p_change ->> 'description_id'
          and c.team_key = p_team and c.number = p_number), description),
        result = coalesce((select c.text from team_comments c where c.tenant_id = p_tenant and c.team_key = p_team
          and c.number = p_number and c.revision = rev and c.kind = 'result'), result),
        started_at = case when s ->> 'status' = 'in_progress' then coalesce(started_at, clock_timestamp()) else started_at end,
        closed_at = case when closing then coalesce(closed_at, clock_timestamp()) end,
        told_by = case when closing then told_by end, updated_at = clock_timestamp()
      where tenant_id = p_tenant and team_key = p_team and number = p_number returning * into t;
    insert into team_task_events (tenant_id, team_key, number, revision, action, actor, reason, status, owner, run, cause, notices)
      values (p_tenant, p_team, p_number, rev, p_change ->> 'action', p_change ->> 'actor', p_change ->> 'reason', t.status, t.owner,
        p_change ->> 'run', p_change ->> 'cause', p_change -> 'notices');
    -- The last of a request to be closed speaks for all of them (TE-2).
    if closing and t.origin_turn is not null and not exists (select 1 from team_tasks o where o.tenant_id = p_tenant
        and o.origin_turn = t.origin_turn and o.team_key = p_team and o.status not in ('completed', 'failed', 'cancelled')) then
      update team_tasks set told_by = p_number where tenant_id = p_tenant and team_key = p_team
        and origin_turn = t.origin_turn and told_by is null;
    end if;
  end if;
  return jsonb_build_object('kind', 'recorded') || standing_team_task(p_tenant, p_team, p_number, rev, null);
end $$;
