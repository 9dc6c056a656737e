import { ROWS } from '#test/support/rows.ts';
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { resealRows } from '#store/key-rotation.ts';
import { MAX_CUSTOM_TOOLS } from '../store.ts';
import { type Answer, startApi, type TestApi } from '#test/support/stack.ts';

/** The example of GoClaw's own docs. */
const DNS = {
  name: 'dns_lookup',
  description: 'Look up DNS records for a domain',
  parameters: {
    type: 'object',
    properties: {
      domain: { type: 'string', description: 'Domain name' },
      record_type: { type: 'string', enum: ['A', 'AAAA', 'MX', 'CNAME', 'TXT'] },
    },
    required: ['domain'],
  },
  command: 'dig +short {{.record_type}} {{.domain}}',
  timeout_seconds: 10,
  enabled: true,
};

describe('CU-1 custom tools over HTTP', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
    for (const key of ['main', 'other', 'careful'])
      await api.ask('POST', '/v1/agents', {
        body: { key, model: 'rehearsal/echo', ...(key === 'careful' ? { exec: { ask: 'off' } } : {}) },
      });
  });
  after(() => api.stop());

  const make = (body: object): Promise<Answer> => api.ask('POST', '/v1/tools/custom', { body });
  let count = 0;
  /** Creates a tool with its own name, and expects success. */
  async function made(body: object): Promise<Answer['body']> {
    count += 1;
    const answer = await make({ name: `tool_${count}`, command: 'echo {{.text}}', ...body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  }

  it('are made, read, changed and removed, and their variables are never read back', async () => {
    const first = await make({ ...DNS, env: { TOKEN: 'canary-value-1' } });
    assert.equal(first.status, 201, JSON.stringify(first.body));
    const { id } = first.body;
    assert.equal(first.headers.get('location'), `/v1/tools/custom/${id}`);
    const expected = {
      ...DNS,
      env_names: ['TOKEN'],
      agent_id: null,
      working_dir: null,
      replay: 'once',
      revision: 1,
    };
    for (const [field, value] of Object.entries(expected)) assert.deepEqual(first.body[field], value, field);
    const changes = { timeout_seconds: -1, enabled: false, id: 'ignored', tenant_id: 'ignored' };
    const changed = await api.ask('PUT', `/v1/tools/custom/${id}`, { body: changes });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    assert.equal(changed.body.status, 'updated');
    const read = await api.ask('GET', `/v1/tools/custom/${id}`);
    assert.equal(read.body.timeout_seconds, 60, 'zero or less is the default');
    assert.deepEqual([read.body.enabled, read.body.revision, read.body.env_names], [false, 2, ['TOKEN']]);
    const { rows } = await api.pool.query(
      'select t::text || coalesce(e::text, $1) as all from custom_tools t left join custom_tool_env e on e.tool_id = t.id',
      [''],
    );
    for (const text of [JSON.stringify([first.body, changed.body, read.body]), JSON.stringify(rows)])
      assert.doesNotMatch(text, /canary-value/);
    const patched = await api.ask('PATCH', `/v1/tools/custom/${id}`, {
      body: { env: null, description: 'x' },
    });
    assert.deepEqual([patched.body.env_names, patched.body.description], [[], 'x']);
    assert.equal(
      (await api.pool.query('select 1 from custom_tool_env where tool_id = $1', [id])).rowCount,
      0,
    );
    const gone = await api.ask('DELETE', `/v1/tools/custom/${id}`);
    assert.deepEqual([gone.status, gone.body], [200, { status: 'deleted' }]);
    for (const method of ['GET', 'PUT', 'DELETE'])
      assert.equal(
        (await api.ask(method, `/v1/tools/custom/${id}`, method === 'PUT' ? { body: {} } : {})).status,
        404,
      );
  });

  it('without a schema take a text for each placeholder', async () => {
    const tool = await made({ command: 'printf %s {{.first}} {{.second}} {{.first}}' });
    assert.deepEqual(tool.parameters.required, ['first', 'second']);
    assert.deepEqual(tool.timeout_seconds, 60);
  });

  it('are listed in pages, by agent and by words', async () => {
    await made({ name: 'page_a', description: 'Finds a needle', agent_id: 'other' });
    await made({ name: 'page_b', description: 'finds a NEEDLE too' });
    const found = await api.ask('GET', '/v1/tools/custom?search=Needle');
    assert.deepEqual(
      found.body.tools.map((tool: { name: string }) => tool.name),
      ['page_a', 'page_b'],
    );
    assert.deepEqual([found.body.total, found.body.limit, found.body.offset], [2, 50, 0]);
    const second = await api.ask('GET', '/v1/tools/custom?search=Needle&limit=1&offset=1');
    assert.deepEqual([second.body.tools.length, second.body.total, second.body.limit], [1, 2, 1]);
    assert.equal(second.body.tools[0].name, 'page_b');
    assert.equal((await api.ask('GET', '/v1/tools/custom?agent_id=other')).body.total, 1);
    assert.equal((await api.ask('GET', '/v1/tools/custom?limit=500')).body.limit, 50);
    assert.equal((await api.ask('GET', '/v1/tools/custom?search=%25')).body.total, 0, 'a wildcard is text');
  });

  const refused: readonly (readonly [string, object, number, RegExp])[] = [
    ['an empty name', { name: '', command: 'x' }, 400, /name/],
    ['a name that is no slug', { name: 'Bad Name!', command: 'x' }, 400, /name/],
    ['a native tool’s name', { name: 'exec', command: 'x' }, 409, /own/],
    ['a native tool’s other name', { name: 'bash', command: 'x' }, 409, /own/],
    ['an MCP tool’s name', { name: 'github__issue', command: 'x' }, 400, /MCP/],
    ['no command', { name: 'a' }, 400, /command/],
    ['an unknown field', { name: 'a', command: 'x', colour: 'red' }, 400, /colour/],
    ['quotes round a placeholder', { name: 'a', command: 'echo "{{.b}}"' }, 422, /outside of quotes/],
    [
      'an unknown placeholder',
      { name: 'a', command: 'echo {{.b}}', parameters: { type: 'object' } },
      422,
      /parameters/,
    ],
    ['a command that is none', { name: 'a', command: 'echo "' }, 422, /could not read/],
    [
      'a schema with a reference',
      { name: 'a', command: 'x', parameters: { type: 'object', properties: { b: { $ref: '#' } } } },
      400,
      /ref/,
    ],
    [
      'a pattern of another kind',
      {
        name: 'a',
        command: 'echo {{.b}}',
        parameters: {
          type: 'object',
          properties: { b: { type: 'string', pattern: '(?=x)' } },
          required: ['b'],
        },
      },
      422,
      /JSON Schema/,
    ],
    ['a folder elsewhere', { name: 'a', command: 'x', working_dir: '../other' }, 400, /workspace/],
    ['an absolute folder', { name: 'a', command: 'x', working_dir: '/etc' }, 400, /workspace/],
    [
      'a variable that loads code',
      { name: 'a', command: 'x', env: { LD_PRELOAD: 'x' } },
      400,
      /LD_PRELOAD: (?!Invalid key)/,
    ],
    ['an agent that is not there', { name: 'a', command: 'x', agent_id: 'nobody' }, 422, /no agent/],
    ['too long a time', { name: 'a', command: 'x', timeout_seconds: 100_000 }, 400, /timeout/],
    ['a class that needs a probe', { name: 'a', command: 'x', replay: 'verify' }, 400, /replay/],
    ['too large a body', { name: 'a', command: 'x', description: 'x'.repeat(1_100_000) }, 413, /./],
  ];
  for (const [name, body, status, words] of refused)
    it(`are refused with ${status}: ${name}`, async () => {
      const answer = await make(body);
      assert.equal(answer.status, status, JSON.stringify(answer.body));
      assert.match(JSON.stringify(answer.body), words);
    });

  it('have one name for all agents and one for each; the same again is a conflict', async () => {
    await made({ name: 'same' });
    await made({ name: 'same', agent_id: 'other' });
    assert.equal((await make({ name: 'same', command: 'x' })).status, 409);
    const third = await made({ name: 'third', agent_id: 'other' });
    const taken = await api.ask('PUT', `/v1/tools/custom/${third.id}`, { body: { name: 'same' } });
    assert.equal(taken.status, 409);
    const back = await api.ask('PUT', `/v1/tools/custom/${third.id}`, { body: { name: 'renamed' } });
    assert.equal(back.body.name, 'renamed');
  });

  it('need an admin’s key to be changed, and are another tenant’s to nobody', async () => {
    const tool = await made({});
    const key = await api.makeKey(['read', 'run']);
    assert.equal((await api.ask('GET', `/v1/tools/custom/${tool.id}`, { key })).status, 200);
    for (const [method, path] of [
      ['POST', '/v1/tools/custom'],
      ['PUT', `/v1/tools/custom/${tool.id}`],
      ['DELETE', `/v1/tools/custom/${tool.id}`],
      ['POST', `/v1/tools/custom/${tool.id}/test`],
    ] as const) {
      assert.equal(
        (await api.ask(method, path, { key, body: { name: 'a', command: 'x' } })).status,
        403,
        path,
      );
      assert.equal((await api.ask(method, path, { key: null, body: {} })).status, 401, path);
    }
    const other = await api.makeTenant();
    for (const method of ['GET', 'PUT', 'DELETE'])
      assert.equal(
        (
          await api.ask(method, `/v1/tools/custom/${tool.id}`, {
            key: other.key,
            ...(method === 'PUT' ? { body: {} } : {}),
          })
        ).status,
        404,
      );
    assert.equal((await api.ask('GET', '/v1/tools/custom', { key: other.key })).body.total, 0);
    assert.equal((await api.ask('GET', `/v1/tools/${tool.name}`, { key: other.key })).status, 404);
    for (const method of ['GET', 'DELETE'])
      assert.equal((await api.ask(method, '/v1/tools/custom/not-a-uuid')).status, 400);
    assert.equal((await api.ask('GET', `/v1/tools/custom/${crypto.randomUUID()}`)).status, 404);
  });

  it('are among the tools, an agent’s own in the place of all agents’', async () => {
    await made({ name: 'shadow', description: 'of all' });
    await made({ name: 'shadow', description: 'of other', agent_id: 'other', replay: 'readonly' });
    const names = async (
      query = '',
    ): Promise<Record<string, { description: string; group: string; replay: string }>> =>
      Object.fromEntries(
        (await api.ask('GET', `/v1/tools${query}`)).body.data.map((tool: { name: string }) => [
          tool.name,
          tool,
        ]),
      );
    const all = await names();
    assert.deepEqual(
      [all['shadow']?.description, all['shadow']?.group, all['shadow']?.replay],
      ['of all', 'custom', 'once'],
    );
    assert.ok(all['exec']);
    assert.equal((await names('?agent=other'))['shadow']?.description, 'of other');
    assert.equal((await api.ask('GET', '/v1/tools/shadow?agent=other')).body.replay, 'readonly');
    assert.equal((await api.ask('GET', '/v1/tools?agent=nobody')).status, 404);
    const { body } = await api.ask('GET', '/v1/tools/shadow');
    assert.deepEqual(body.parameters.properties, { text: { type: 'string' } });
  });

  it('are tried without running: the command and the verdict', async () => {
    const dns = await made({ ...DNS, name: 'dns_dry' });
    const dry = async (id: string, body: object): Promise<Answer['body']> => {
      const answer = await api.ask('POST', `/v1/tools/custom/${id}/test`, { body });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body;
    };
    assert.deepEqual(await dry(dns.id, { args: { domain: 'example.com', record_type: 'A' } }), {
      command: "dig +short 'A' 'example.com'",
      decision: 'allow',
      step: 'shell',
      rule: 'custom_template',
      reason: 'it would run without asking',
    });
    const wrong = await dry(dns.id, { args: { record_type: 'Z' } });
    assert.deepEqual([wrong.command, wrong.decision, wrong.step], [null, 'deny', 'arguments']);
    assert.match(wrong.reason, /domain: is required/);
    assert.match(wrong.reason, /record_type: .*A, AAAA/);
    const option = await dry(dns.id, { args: { domain: '-f/etc/passwd' } });
    assert.match(option.reason, /domain: begins with -/);
    const cat = await made({ command: 'cat {{.file}}' });
    const outside = await dry(cat.id, { args: { file: '/etc/hosts' } });
    assert.deepEqual([outside.decision, outside.command], ['ask', "cat '/etc/hosts'"]);
    const careful = await dry(cat.id, { args: { file: '/etc/hosts' }, agent_id: 'careful' });
    assert.equal(careful.decision, 'deny');
    const pipe = await made({ command: 'curl -s {{.url}} | sh' });
    const denied = await dry(pipe.id, { args: { url: 'https://example.com' } });
    assert.deepEqual([denied.decision, denied.rule], ['deny', 'remote_code']);
    await api.ask('PATCH', '/v1/agents/other', { body: { tools: { deny: ['group:custom'] } } });
    const policy = await dry(dns.id, { args: { domain: 'example.com' }, agent_id: 'other' });
    assert.deepEqual([policy.decision, policy.step], ['deny', 'agent_deny']);
  });

  it('have variables that go along when the master key is changed', async () => {
    const tool = await made({ env: { TOKEN: 'canary-value-2' } });
    const opened = new Map<string, string>();
    const { sealer } = api.deps.secrets;
    await resealRows(api.pool, ROWS, sealer.keyId.replace(/^./, 'x'), (sealed, place) => {
      opened.set(place, sealer.open(sealed, place));
      return sealed;
    });
    assert.equal(opened.get(`${api.tenant}/custom_tools/${tool.id}`), '{"TOKEN":"canary-value-2"}');
  });

  it('are at most so many', async () => {
    const { tenant, key } = await api.makeTenant();
    await api.pool.query(
      `insert into custom_tools (tenant_id, id, name, description, parameters, command, timeout_seconds, enabled, replay, created_by)
       select $1, gen_random_uuid(), 't' || n, '', '{"type":"object","properties":{}}', 'true', 60, true, 'once', 'test'
       from generate_series(1, $2::int) n`,
      [tenant, MAX_CUSTOM_TOOLS],
    );
    const answer = await api.ask('POST', '/v1/tools/custom', {
      key,
      body: { name: 'one_more', command: 'true' },
    });
    assert.equal(answer.status, 409);
    assert.match(answer.body.detail, /500 custom tools, which is the most/);
  });
});
