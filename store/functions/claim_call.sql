-- Claims a call for one attempt (DU-2) and returns everything needed to run it. The transaction that claims also uses
-- up the approval. A call that only reads needs no claim: its row is its result (p_reads).
-- kind: run | done (its result is known) | lost (`once`, claimed before, no result) | refused (why: status) | limited
-- (EX-6; seconds to wait) | over_budget (exceeded: DU-7) | asked (again, and not decided yet) | missing
create function claim_call(
  p_tenant text, p_call text, p_fence text, p_once boolean, p_reads boolean, p_per_hour int, p_burst int,
  p_budget jsonb default null
) returns jsonb
language plpgsql as $$
declare
  c tool_calls%rowtype;
  t turns%rowtype;
  a approvals%rowtype;
  form approvals%rowtype;
  claims boolean;
  seconds int;
  budget jsonb;
begin
  select * into c from tool_calls where tenant_id = p_tenant and id = p_call;
  if not found then return jsonb_build_object('kind', 'missing'); end if;
  claims := not p_reads or c.verdict <> 'allow';
  if claims then
    perform 1 from sessions where tenant_id = p_tenant and key = c.session_key for update;
    select * into c from tool_calls where tenant_id = p_tenant and id = p_call for update;
  end if;
  if c.state = 'done' then
    return jsonb_build_object('kind', 'done', 'ok', c.ok, 'code', c.code, 'result', left(c.result, 2000), 'child', c.child);
  end if;
  select * into t from turns where tenant_id = p_tenant and id = c.turn_id;
  if t.status in ('completed', 'failed', 'stopped') then 
    return jsonb_build_object('kind', 'refused', 'status', 'over', 'session', c.session_key, 'turn', c.turn_id);
  end if;
  if c.state = 'running' and c.fence <> p_fence and p_once and c.outside is null then
    return jsonb_build_object('kind', 'lost', 'session', c.session_key, 'turn', c.turn_id, 'args', c.args);
  end if;
  if p_per_hour > 0 and c.state = 'requested' and c.form_id is null then
    seconds := take_token(p_tenant, c.session_key, p_per_hour, p_burst);
    if seconds > 0 then
      return jsonb_build_object('kind', 'limited', 'seconds', seconds, 'session', c.session_key, 'turn', c.turn_id);
    end if;
  end if;
  if c.form_id is not null then
    -- Its MCP server asks people while the call runs: the approval of the call itself was used up at its start.
    select * into form from approvals where tenant_id = p_tenant and id = c.form_id;
    if form.status = 'pending' then
      return jsonb_build_object('kind', 'asked', 'approval', form.id, 'expires', extract(epoch from form.expires_at - form.created_at)::int,
        'until', round(extract(epoch from form.expires_at) * 1000), 'digest', form.digest, 'terms', form.terms, 'always', form.always, 'files', form.files,
        'form', form.form);
    end if;
  elsif c.verdict = 'ask' and c.state = 'requested' then
    update approvals set used_at = now() where tenant_id = p_tenant and id = c.approval_id and call_id = c.id
      and status = 'approved' and used_at is null and digest = c.digest;
    if not found then
      select * into a from approvals where tenant_id = p_tenant and id = c.approval_id;
      -- Only an attempt of this call asks again (approval-questions.ts).
      if a.status = 'pending' then
        return jsonb_build_object('kind', 'asked', 'approval', a.id, 'expires', extract(epoch from a.expires_at - a.created_at)::int,
          'until', round(extract(epoch from a.expires_at) * 1000), 'digest', a.digest, 'terms', a.terms, 'always', a.always, 'files', a.files);
      end if;
      return jsonb_build_object('kind', 'refused', 'session', c.session_key, 'turn', c.turn_id, 'status', coalesce(
        a.status, 'missing'));
    end if;
  end if;
  if p_budget is not null and has_budgets(p_tenant, t.agent_key, coalesce(t.budget_root,
      (select budget_root from sessions where tenant_id = p_tenant and key = c.session_key)), p_budget) then
    budget := reserve_budget(p_tenant, c.session_key, c.turn_id, p_call, null, p_budget);
    if budget ? 'exceeded' then
      return budget || jsonb_build_object('kind', 'over_budget', 'session', c.session_key, 'turn', c.turn_id);
    end if;
  end if;
  if claims then
    update tool_calls set state = 'running', fence = p_fence, attempts = attempts + 1, started_at = coalesce(started_at, clock_timestamp())
      where tenant_id = p_tenant and id = p_call;
    if c.form_id is null then
      perform append_events(p_tenant, c.session_key, c.turn_id, jsonb_build_array(jsonb_build_object('type', 'tool.started',
        'data', jsonb_build_object('call_id', c.id, 'tool', c.tool, 'summary', c.summary, 'step', c.step))));
    end if;
  end if;
  if c.approval_id is not null then
    select * into a from approvals where tenant_id = p_tenant and id = c.approval_id;
  end if;
  return jsonb_build_object('kind', 'run', 'claimed', claims, 'budgeted', budget is not null, 'session', c.session_key, 'turn', c.turn_id, 'step', c.step,
    'tool', c.tool, 'called_as', c.called_as, 'summary', c.summary, 'args', c.args, 'sealed', encode(c.args_sealed, 'base64'), 'digest', c.digest,
    'approved', c.verdict = 'ask', 'sandbox', a.sandbox, 'files', a.files, 'terms', a.terms, 'approval', a.id, 'context', t.context,
    'skills', skills_before(t.skills, c.step),
    'used', (select used_before(used, c.created_at) from sessions where tenant_id = p_tenant and key = c.session_key),
    'tenant_policy', (select policy from tenants where id = p_tenant),
    'documents', documents_version(p_tenant, t.agent_key, t.context ->> 'user'),
    'agent', (select config from agents where tenant_id = p_tenant and key = t.agent_key),
    'allowlist', allowlist_of(p_tenant, t.agent_key, t.context ->> 'user'),
    'outside', encode(c.outside, 'base64'), 'again', c.state = 'running',
    'form', case when form.id is not null then jsonb_build_object('id', form.id, 'status', form.status,
      'sealed', encode(form.args_sealed, 'base64')) end);
end $$;
