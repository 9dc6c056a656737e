/** Real objects of every kind in one tenant; those that can belong to a user are Ann's. */
import assert from 'node:assert/strict';
import type { Pool } from '#store/postgres/pool.ts';
import type { Stack } from './stack.ts';

/** Is in every value of an object that is the tenant's, and in no address or request of a probe. */
export const TENANT_WORD = 'numbat';
/** The same for what is Ann's. */
export const ANN_WORD = 'potoroo';

/** What addresses and bodies name. */
export type TenantObjects = Awaited<ReturnType<typeof makeTenantObjects>>;

/** A row with these values, and what its table needs besides them. */
export async function plant(pool: Pool, table: string, values: Record<string, unknown>): Promise<void> {
  const { rows } = await pool.query<{ name: string; type: string }>(
    `select column_name as name, data_type as type from information_schema.columns
     where table_schema = 'public' and table_name = $1 and is_nullable = 'NO' and column_default is null
       and is_identity = 'NO' and is_generated = 'NEVER'`,
    [table],
  );
  const empty: Record<string, unknown> = {
    jsonb: '{}',
    boolean: false,
    ARRAY: [],
    bytea: Buffer.from('x'),
    'timestamp with time zone': new Date('2030-01-01T00:00:00Z'),
    text: '',
    date: '2030-01-01',
    uuid: '00000000-0000-4000-8000-000000000000',
    'bit varying': '0101',
    tsvector: 'word',
  };
  const row = { ...Object.fromEntries(rows.map(({ name, type }) => [name, empty[type] ?? 0])), ...values };
  const names = Object.keys(row);
  await pool.query(
    `insert into ${table} (${names.map((name) => `"${name}"`).join(', ')})
     values (${names.map((_, at) => `$${at + 1}`).join(', ')})`,
    Object.values(row),
  );
}

export async function makeTenantObjects(stack: Stack, annKey: string) {
  const { pool, tenant } = stack;
  const make = async (
    method: string,
    path: string,
    body: object | undefined,
    key = stack.key,
  ): Promise<any> => {
    const answer = await stack.ask(method, path, { body, key });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const send = async (
    method: string,
    path: string,
    sent: string | undefined,
    sender: string,
  ): Promise<string> => {
    const headers = { authorization: `Bearer ${sender}`, ...(sent && { 'content-type': 'text/plain' }) };
    const answer = await fetch(stack.url + path, { method, headers, body: sent });
    assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
    return answer.text();
  };
  const row = (table: string, values: Record<string, unknown>) =>
    plant(pool, table, { tenant_id: tenant, ...values });
  const agent = (key: string) => ({
    key,
    model: 'rehearsal/follow',
    instructions: TENANT_WORD,
    tools: { ask: [{ tool: 'poke' }, { tool: 'write_file' }] },
  });
  for (const key of ['quokka', 'quokka-two', 'quokka-rolled']) await make('POST', '/v1/agents', agent(key));
  const rolled = { agent: 'quokka-rolled', sessions: [TENANT_WORD], change: { name: TENANT_WORD } };
  await make('POST', '/v1/rollouts', rolled);
  const link = await make('POST', '/v1/agent-links', {
    source: 'quokka',
    target: 'quokka-two',
    description: TENANT_WORD,
  });
  const [spoken, requested] = ['quokka-talk', 'quokka-asks'];
  const message = await make(
    'POST',
    `/v1/sessions/${spoken}/messages?wait=60`,
    { text: `spawn {"action":"run","task":"Say ${ANN_WORD}."}\nthen\n${ANN_WORD}`, agent: 'quokka' },
    annKey,
  );
  assert.equal(message.status, 'completed');
  const turn: string = message.turn_id;
  const subagents = await stack.ask('GET', `/v1/sessions/${spoken}/subagents`);
  const calls = await stack.ask('GET', `/v1/turns/${turn}/tool-calls`);
  const call: string = calls.body.data[0].id;
  await row('files', { digest: 'd', bytes: Buffer.from(ANN_WORD) });
  await pool.query('update tool_calls set images = $2 where id = $1', [
    call,
    '[{"digest":"d","type":"image/png","width":1,"height":1,"size":7}]',
  ]);
  await make(
    'POST',
    `/v1/sessions/${requested}/messages`,
    { text: `poke {"note":"${ANN_WORD}"}`, agent: 'quokka' },
    annKey,
  );
  const approval = await stack.worker.approvalOf(requested);
  const approvalLink = await make('POST', `/v1/approvals/${approval}/links`, { for: 'ann' }, annKey);
  const budget = await make('POST', '/v1/budgets', { scope: 'agent', subject: 'quokka', usd: 20 });
  const key = await make('POST', '/v1/api-keys', { name: TENANT_WORD, scopes: ['read'] });
  const artifact: { id: string } = JSON.parse(
    await send('POST', `/v1/artifacts?filename=${ANN_WORD}.txt`, ANN_WORD, annKey),
  );
  await make('POST', '/v1/channels', {
    key: 'quokka',
    type: 'webhook',
    agent: 'quokka',
    settings: { secret: 'whsec_bnVtYmF0bnVtYmF0bnVtYmF0bnVtYmF0bnVtYmF0bnU=' },
  });
  await row('channel_people', {
    channel_key: 'quokka',
    person_id: 'p1',
    name: TENANT_WORD,
    user_id: TENANT_WORD,
  });
  await row('channel_pairings', {
    channel_key: 'quokka',
    person_id: 'p2',
    name: TENANT_WORD,
    code: 'ABCD2345',
  });
  const tool = await make('POST', '/v1/tools/custom', {
    name: 'quokka_tool',
    description: TENANT_WORD,
    command: 'true',
  });
  await row('egress_requests', { host: `${TENANT_WORD}.test`, purpose: 'tool', method: 'GET' });
  await row('exec_allowlist', {
    id: 'alw_quokka',
    agent_key: 'quokka',
    user_id: 'ann',
    tool: 'exec',
    pattern: ANN_WORD,
  });
  for (const text of ['one', 'two'])
    await make('PUT', '/v1/agents/quokka/files/USER.md?user=ann', { text: `${ANN_WORD} ${text}` }, annKey);
  await row('forgettings', {
    id: 'fgt_quokka',
    kind: 'user',
    subject: TENANT_WORD,
    ended_at: new Date(),
    until: new Date(),
  });
  await row('handoff_routes', {
    channel: 'web',
    chat_id: 'quokka',
    from_key: 'quokka',
    to_key: 'quokka-two',
    session_key: spoken,
    reason: ANN_WORD,
    path: '[]',
  });
  await make('PUT', '/v1/agents/quokka/files/HEARTBEAT.md?user=ann', { text: ANN_WORD }, annKey);
  await make('PATCH', '/v1/agents/quokka/heartbeat?user=ann', { interval: 86_400 }, annKey);
  const idOf = async (table: string, values: Record<string, unknown>): Promise<string> => {
    await row(table, { agent_key: 'quokka', user_id: 'ann', ...values });
    return (await pool.query<{ id: string }>(`select max(id)::text as id from ${table}`)).rows[0]?.id ?? '';
  };
  const entities: string[] = [];
  for (const name of [ANN_WORD, `${ANN_WORD} two`, `${ANN_WORD} three`]) {
    const entity = await idOf('knowledge_entities', { name, type: 'thing' });
    entities.push(entity);
    const known = { type: 'thing', key: name, name, entity_id: entity };
    await row('knowledge_names', { agent_key: 'quokka', user_id: 'ann', ...known });
  }
  const fact = await idOf('knowledge_facts', {
    from_id: entities[1],
    to_id: entities[2],
    type: ANN_WORD,
    author: 'ann',
    valid_from: new Date('2020-01-01T00:00:00Z'),
  });
  await make('POST', '/v1/mcp/servers', {
    name: 'quokka',
    url: `https://${TENANT_WORD}.test/mcp`,
    enabled: false,
    credentials: 'per_user',
  });
  await make(
    'PUT',
    '/v1/mcp/servers/quokka/user-credentials',
    { headers: { 'x-key': `${ANN_WORD}-credential` } },
    annKey,
  );
  await make('PUT', '/v1/mcp/servers/quokka/grants/agent/quokka', { tool_allow: [TENANT_WORD] });
  const request = await make(
    'POST',
    '/v1/mcp/requests',
    { server: 'quokka', scope: 'user', reason: ANN_WORD },
    annKey,
  );
  await make('POST', '/v1/nodes/invites', { name: 'quokka', capabilities: [`${TENANT_WORD}.info`] });
  const node = await pool.query('select id from nodes where tenant_id = $1', [tenant]);
  await row('node_invocations', {
    id: 'inv_quokka',
    node_id: node.rows[0].id,
    session_key: spoken,
    capability: `${TENANT_WORD}.info`,
    status: 'unknown',
  });
  await make('PUT', '/v1/policy', { tools: { deny: [`mcp_${TENANT_WORD}__x`] } });
  const changes = await stack.ask('GET', '/v1/policy/history');
  const schedule = await make(
    'POST',
    '/v1/schedules',
    {
      name: 'quokka',
      agent: 'quokka',
      schedule: { kind: 'every', every_seconds: 86_400 },
      message: ANN_WORD,
    },
    annKey,
  );
  await row('schedule_runs', {
    schedule_id: schedule.id,
    key: 'k',
    state: 'skipped',
    reason: ANN_WORD,
    session_key: spoken,
  });
  await make('PUT', '/v1/secrets/quokka', { value: `${TENANT_WORD}-secret-value` });
  await make('PUT', '/v1/secure-clis/quokka', {
    agents: ['quokka'],
    env: [{ name: 'X_TOKEN', value: `${TENANT_WORD}-of-cli` }],
    user_env: ['Y_TOKEN'],
  });
  await make(
    'PUT',
    '/v1/secure-clis/quokka/user-credentials',
    { env: { Y_TOKEN: `${ANN_WORD}-of-cli` } },
    annKey,
  );
  await make('PUT', '/v1/tool-hosts/quokka', {
    seal_key: Buffer.alloc(32).toString('base64'),
    tools: [
      {
        name: 'quokka_code',
        description: TENANT_WORD,
        parameters: { type: 'object', properties: {} },
        replay: 'read',
        hash: '00000000-0000-4000-8000-000000000000',
      },
    ],
  });
  await make('PUT', '/v1/remote-agents/quokka', {
    url: `https://${TENANT_WORD}.test/agent/`,
    description: TENANT_WORD,
    credential: 'Bearer secret://quokka',
  });
  const guarded = {
    tool: 'quokka_refund',
    args: { order: ANN_WORD },
    namespace: 'quokka',
    workflow_id: 'quokka',
    run_id: 'quokka',
  };
  await make('PUT', '/v1/guarded-calls/gc_quokka', guarded, annKey);
  const script = { agent: 'quokka', user: 'ann', tools: { quokka_tool: [{ text: ANN_WORD }] } };
  const replay = await make('POST', '/v1/replays', { mode: 'script', script });
  const freeze = await make('POST', '/v1/freezes', { reason: TENANT_WORD, tools: ['quokka_unused'] });
  const skill = `---\nname: quokka\ndescription: ${TENANT_WORD}\n---\n${TENANT_WORD}`;
  const files = [{ path: 'SKILL.md', content: Buffer.from(skill).toString('base64') }];
  await make('PUT', '/v1/skills/quokka', { files });
  await make('PUT', '/v1/skills/quokka/grants/agent/quokka', undefined);
  await make('POST', '/v1/teams', {
    key: 'quokka',
    lead: 'quokka',
    members: ['quokka-two'],
    description: TENANT_WORD,
  });
  const task = await make('POST', '/v1/teams/quokka/tasks', { subject: TENANT_WORD });
  await make('POST', `/v1/teams/quokka/tasks/${task.id}/comment`, { text: TENANT_WORD });
  const content = Buffer.from(TENANT_WORD).toString('base64');
  await make('POST', `/v1/teams/quokka/tasks/${task.id}/attach`, { file: { name: 'a.txt', content } });
  const attached = await stack.ask('GET', `/v1/teams/quokka/tasks/${task.id}/files`);
  await make('PUT', '/v1/tools/builtin/read_file/tenant-config', { enabled: true });
  const webhook = await make('POST', '/v1/webhooks', {
    url: `https://${TENANT_WORD}.test/hook`,
    events: ['turn.failed'],
    agent: 'quokka',
  });
  await row('webhook_deliveries', {
    id: 'whd_quokka',
    webhook_id: webhook.id,
    session_key: spoken,
    event: 'turn.completed',
    status: 'failed',
    problem: TENANT_WORD,
    ended_at: new Date(),
  });
  await send('PUT', '/v1/agents/quokka/workspace/a.txt?user=ann', ANN_WORD, annKey);
  for (const [kind, target] of [
    ['delegation', 'completed'],
    ['evaluation', 'approved'],
  ] as const)
    await row('assignments', {
      id: kind === 'delegation' ? 'del_quokka' : 'evl_quokka',
      kind,
      origin_session: spoken,
      origin_turn: turn,
      origin_call: call,
      link_id: link.id,
      source_key: 'quokka',
      target_key: 'quokka-two',
      session_key: `${kind}:quokka`,
      user_id: 'ann',
      task: ANN_WORD,
      mode: 'sync',
      announce: 'queue',
      details: '{"evaluator":"quokka","max_rounds":1}',
      gates: '[]',
      status: target,
      ended_at: new Date(),
    });
  const exported = await send('GET', '/v1/agents/main/export', undefined, stack.key);

  for (const path of ['notes/a.md', 'notes/b.md', 'notes/c.md']) {
    const invoked = { args: { path, content: TENANT_WORD }, agent: 'quokka' };
    const { approval_id } = await make('POST', '/v1/tools/write_file/invoke?wait=30', invoked);
    await make('POST', `/v1/approvals/${approval_id}/decision`, { decision: 'approve' });
  }
  const proposals = await stack.ask('GET', '/v1/policy/proposals');
  // An approved call is over a moment after its approval.
  await stack.worker.until('the end of all turns but one', async () => {
    const { rows } = await pool.query('select from turns where tenant_id = $1 and ended_at is null', [
      tenant,
    ]);
    return rows.length === 1 ? true : undefined;
  });
  return {
    tenant,
    link: String(link.id),
    key: String(key.id),
    approval,
    approvalLink: String(approvalLink.id),
    artifact: artifact.id,
    subagent: String(subagents.body.data[0].id),
    budget: String(budget.id),
    session: spoken,
    turn,
    call,
    tool: String(tool.id),
    entities,
    fact,
    freeze: freeze.id,
    request: String(request.id),
    replay: String(replay.id),
    proposal: String(proposals.body.data[0].id),
    policyChange: String(changes.body.data[0].id),
    schedule: String(schedule.id),
    task: String(task.id),
    file: String(attached.body.data[0].id),
    webhook: String(webhook.id),
    exported,
  };
}
