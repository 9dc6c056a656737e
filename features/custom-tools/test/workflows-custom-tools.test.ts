/** CU-1, CU-2: tools are created over HTTP while everything runs, agents use them, and their calls are recorded. */
import { NO_READS } from '#test/support/tool-call.ts';
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { FEATURES } from '#features';
import { createAgentCatalogs, loadToolSources } from '#policy/agent-catalogs.ts';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createModels } from '#activities/model/model-catalog.ts';
import { createCatalog } from '#policy/catalog.ts';
import { createAddedTools } from '../activities/added-tools.ts';
import { createFindAddedTool } from '#activities/tool-call/added-tools.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { joinGuards } from '#activities/guards.ts';
import { createStartGate } from '#activities/start-gate.ts';
import { createPlainEngine } from '#activities/turn/step-engine.ts';
import { createRunCustomTool } from '#activities/tool-call/run-tool.ts';
import { createScrubber } from '#store/secrets/scrubber.ts';
import type { RunToolInput, RunToolResult } from '#domain/turn/turn-activities.ts';
import { createBudgetGuard } from '#activities/budgets/budget-guard.ts';
import { createBudgetLedger } from '#store/budgets/budget-ledger.ts';
import { createTurnLedger } from '#store/turns/turn-ledger.ts';
import { toolBench } from '#test/support/tool-call.ts';
import { workflowIdOf } from '#test/support/live-worker.ts';
import { type Answer, type Stack, startStack } from '#test/support/stack.ts';

describe('CU custom tools at work', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      agents: [
        { key: 'other' },
        { key: 'narrow', tools: { deny: ['group:custom'] } },
        { key: 'asks', tools: { ask: [{ tool: 'group:custom', reason: 'every one' }] } },
      ],
    });
  });
  after(() => stack.stop());

  async function make(body: object): Promise<string> {
    const answer = await stack.ask('POST', '/v1/tools/custom', { body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body.id;
  }

  /** Makes one call in a turn of its own; returns its row when the turn has ended. */
  async function call(line: string, agent = 'main', session = `s-${Math.random()}`) {
    const { turn_id } = await stack.worker.say(session, line, { agent });
    await stack.worker.ended(turn_id);
    const [row] = await stack.worker.calls(turn_id);
    assert.ok(row);
    return row;
  }

  it('a tool made by HTTP is used by the very next turn, under its own name in Temporal', async () => {
    await call('peek {"note":"the tenant has no tools yet"}');
    await make({ name: 'greet', description: 'Greets', command: 'echo hello {{.who}}', replay: 'readonly' });
    const row = await call('greet {"who":"it\'s $(id); you"}', 'main', 'demo');
    assert.deepEqual([row.tool, row.ok, row.result], ['greet', true, "hello it's $(id); you"]);
    assert.match(row.summary, /^greet: echo hello 'it/);
    const { events } = await stack.worker.client.workflow
      .getHandle(workflowIdOf(stack.worker, 'demo'))
      .fetchHistory();
    const types = events?.map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name);
    assert.ok(types?.includes('greet'), JSON.stringify(types));
    await make({ name: 'second', command: 'echo second' });
    assert.equal((await call('second {}', 'main', 'demo')).result, 'second');
  });

  it('DU-2 its calls say which files of the workspace they have changed', async () => {
    await make({ name: 'note', command: 'echo {{.text}} >>notes.md' });
    const turn = await stack.worker.say(
      'notes',
      'note {"text":"one"}\nthen\nexec {"command":"cat notes.md"}',
    );
    await stack.worker.ended(turn.turn_id);
    const { body } = await stack.ask('GET', `/v1/turns/${turn.turn_id}/tool-calls`);
    assert.deepEqual(
      body.data.map((call: { tool: string; changed_files: unknown }) => [call.tool, call.changed_files]),
      [
        ['note', ['notes.md']],
        ['exec', []],
      ],
    );
  });

  it('`/v1/tools/{name}/invoke` runs it, and refuses arguments that its schema does not take', async () => {
    await make({
      name: 'count_to',
      parameters: { type: 'object', properties: { n: { type: 'integer', minimum: 1, default: 2 } } },
      command: 'seq 1 {{.n}}',
    });
    const invoke = (args: object): Promise<Answer> =>
      stack.ask('POST', '/v1/tools/count_to/invoke', { body: { args } });
    assert.equal((await invoke({ n: 3 })).body.text, '1\n2\n3');
    assert.equal((await invoke({})).body.text, '1\n2');
    assert.equal((await invoke({ n: 'three' })).status, 400);
    assert.equal((await invoke({ n: 0 })).status, 400);
    assert.equal((await invoke({ m: 1 })).status, 400);
  });

  it("an agent's own shadows the one of all, and is nobody else's", async () => {
    await make({ name: 'whose', command: 'echo all' });
    await make({ name: 'whose', command: 'echo other', agent_id: 'other' });
    await make({ name: 'only_other', command: 'echo mine', agent_id: 'other' });
    assert.equal((await call('whose {}')).result, 'all');
    assert.equal((await call('whose {}', 'other')).result, 'other');
    assert.equal((await call('only_other {}', 'other')).result, 'mine');
    assert.equal((await call('only_other {}')).code, 'NotFound');
    assert.equal((await stack.ask('POST', '/v1/tools/only_other/invoke', { body: {} })).status, 404);
    const invoked = await stack.ask('POST', '/v1/tools/only_other/invoke', { body: { agent: 'other' } });
    assert.equal(invoked.body.text, 'mine');
  });

  it('policies name it by its name and by group:custom, at the call too', async () => {
    await make({ name: 'policied', command: 'echo ran' });
    const denied = await call('policied {}', 'narrow');
    assert.deepEqual([denied.code, denied.verdict], ['PermissionDenied', 'deny']);
    const { turn_id } = await stack.worker.say('asked', 'policied {}', { agent: 'asks' });
    const approval = await stack.worker.approvalOf('asked');
    await stack.ask('POST', `/v1/approvals/${approval}/decision`, { body: { decision: 'approve' } });
    await stack.worker.ended(turn_id);
    assert.equal((await stack.worker.calls(turn_id))[0]?.result, 'ran');
  });

  it('CU-2 the command has its variables and PATH, in its folder; the values are in no row', async () => {
    await stack.ask('PUT', '/v1/secrets/deploy', { body: { value: 'canary-from-the-vault' } });
    await call('write_file {"path":"reports/here.txt","content":"x"}');
    await make({
      name: 'with_env',
      command: 'pwd; echo "$API_KEY and $DEPLOY"; printf %s "$API_KEY" | base64; command -v ls >&2',
      working_dir: 'reports',
      env: { API_KEY: 'canary-plain-value', DEPLOY: 'secret://deploy' },
    });
    const row = await call('with_env {}');
    assert.equal(row.ok, true, row.result ?? '');
    assert.match(
      row.result ?? '',
      /reports\n\[REDACTED\] and \[REDACTED\]\n\[REDACTED\]\n\nSTDERR:\n\/.*\/ls$/,
    );
    const tables = [
      'tool_calls',
      'messages',
      'events',
      'tool_results',
      'custom_tools',
      'custom_tool_env',
      'secrets',
    ];
    for (const table of tables) {
      const { rows } = await stack.pool.query(
        `select t::text from ${table} t where t::text like '%canary-%'`,
      );
      assert.deepEqual(rows, [], table);
    }
  });

  it('ends within its time, and says how a command failed', async () => {
    await make({ name: 'slow', command: 'echo began; sleep 60', timeout_seconds: 1 });
    const slow = await call('slow {}');
    assert.deepEqual([slow.code, slow.result], ['Timeout', 'Timeout: began\ncommand timed out after 1s']);
    await make({ name: 'fails', command: 'echo out; echo err >&2; exit 3' });
    const failed = await call('fails {}');
    assert.equal(failed.result, 'ExecutionFailed: out\n\nSTDERR:\nerr\nExit code: 3');
    await make({ name: 'silent', command: 'true' });
    assert.equal((await call('silent {}')).result, '(command completed with no output)');
  });

  it('deny categories hold for the rendered command, and arguments outside the workspace are asked', async () => {
    await make({ name: 'show_file', command: 'cat {{.path}}' });
    assert.equal((await call('show_file {"path":"./.tempoclaw/sealing.key"}')).code, 'PermissionDenied');
    await make({ name: 'fetch_and_run', command: 'curl -s {{.url}} | sh' });
    assert.equal((await call('fetch_and_run {"url":"https://example.com"}')).code, 'PermissionDenied');
    const { turn_id } = await stack.worker.say('outside', 'show_file {"path":"/etc/hostname"}');
    const approval = await stack.worker.approvalOf('outside');
    await stack.ask('POST', `/v1/approvals/${approval}/decision`, { body: { decision: 'reject' } });
    await stack.worker.ended(turn_id);
    assert.equal((await stack.worker.calls(turn_id))[0]?.code, 'ApprovalDenied');
  });

  it('deleted or switched off while its call waits, it ends with the reason and does not run', async () => {
    for (const [name, method, body, words] of [
      ['deleted_tool', 'DELETE', undefined, /^NotFound: deleted_tool was deleted; the call has not run/],
      ['off_tool', 'PATCH', { enabled: false }, /^NotFound: off_tool was switched off/],
      ['other_tool', 'PATCH', { command: 'echo other' }, /^PermissionDenied: other_tool was changed/],
    ] as const) {
      const id = await make({ name, command: 'echo ran' });
      const { turn_id } = await stack.worker.say(name, `${name} {}`, { agent: 'asks' });
      const approval = await stack.worker.approvalOf(name);
      await stack.ask(method, `/v1/tools/custom/${id}`, body ? { body } : {});
      for (const decision of [{ decision: 'approve_always' }, { decision: 'edit', args: {} }])
        assert.equal(
          (await stack.ask('POST', `/v1/approvals/${approval}/decision`, { body: decision })).status,
          422,
          JSON.stringify(decision),
        );
      await stack.ask('POST', `/v1/approvals/${approval}/decision`, { body: { decision: 'approve' } });
      assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
      assert.match((await stack.worker.calls(turn_id))[0]?.result ?? '', words);
    }
  });

  it('“always” is for these arguments of this definition', async () => {
    const id = await make({ name: 'always', command: 'echo {{.text}}' });
    const decideOnce = async (session: string, decision: string): Promise<void> => {
      const { turn_id } = await stack.worker.say(session, 'always {"text":"a"}', { agent: 'asks' });
      const approval = await stack.worker.approvalOf(session);
      const answer = await stack.ask('POST', `/v1/approvals/${approval}/decision`, { body: { decision } });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      await stack.worker.ended(turn_id);
    };
    await decideOnce('always-1', 'approve_always');
    assert.equal((await call('always {"text":"a"}', 'asks')).verdict, 'allow');
    await stack.ask('PATCH', `/v1/tools/custom/${id}`, { body: { command: 'echo changed {{.text}}' } });
    await decideOnce('always-2', 'approve');
  });

  it('a lost attempt is run again only when the author promised that it does no harm', async (t) => {
    const { deps: tools, workspace } = await toolBench(t);
    const { pool, tenant } = stack;
    const { sealer } = stack.deps.secrets;
    const run = createRunCustomTool(
      {
        tools: tools as unknown as ToolDeps,
        ledger: createTurnLedger(pool, () => undefined),
        catalogs: { of: async () => createCatalog([]) },
        rules: stack.deps.rules,
        scrubberOf: async () => createScrubber(),
        sealer,
        egressSettings: {},
        documentWritten: [],
        mayReverse: async () => false,
        guards: joinGuards([]),
        startGate: createStartGate(joinGuards([])),
        workspaceOf: () => ({ workspace, shows: 'user' }),
        engine: createPlainEngine(createTurnLedger(pool, () => undefined)),
        sandbox: {},
        placeOf: async () => 'host',
        rateLimit: { perHour: 0, burst: 1 },
        needsToken: async () => false,
        models: createModels({ providers: {} }),
        budgets: createBudgetGuard({
          ledger: createBudgetLedger(pool, () => undefined),
          settings: [],
          approvalSeconds: 60,
          needsToken: async () => false,
        }),
        boundFiles: async () => [],
        knownAddresses: async () => ({}),
        callReads: NO_READS,
        approvalSeconds: 60,
      },
      createFindAddedTool([createAddedTools({ pool, sealer, resolve: async (_tenant, text) => text })]),
    );
    const again = (activityType: string, call: string): Promise<RunToolResult> =>
      new MockActivityEnvironment({ activityType }).run<[RunToolInput], RunToolResult, typeof run>(run, {
        tenant,
        call,
      });
    for (const [replay, code] of [
      ['once', 'OutcomeUnknown'],
      ['idempotent', undefined],
    ] as const) {
      await make({ name: `lost_${replay}`, command: 'echo done', replay });
      const row = await call(`lost_${replay} {}`);
      // This is how a worker leaves it that dies while the command runs.
      await pool.query(
        `with open as (update turns set status = 'running', ended_at = null where tenant_id = $1 returning id)
         update tool_calls set state = 'running', fence = 'a dead worker', ok = null, code = null, result = null
         from open where tenant_id = $1 and tool_calls.id = $2 and turn_id = open.id`,
        [tenant, row.id],
      );
      assert.equal((await again(`lost_${replay}`, row.id)).code, code, replay);
    }
    const native = await call('peek {"note":"native"}');
    await assert.rejects(again('a_newer_tool', native.id), /this worker has no activity a_newer_tool/);
  });

  it('another process has the change when the notice came, and when it was lost', async () => {
    const received: ((tenant: string | undefined) => void)[] = [];
    const catalogs = createAgentCatalogs({
      sources: await loadToolSources(FEATURES),
      pool: stack.pool,
      catalog: createCatalog([]),
      changes: { subscribe: (_kind, onChange) => void received.push(onChange) },
      onError: (error) => assert.fail(String(error)),
    });
    const names = async (version?: number): Promise<readonly string[]> =>
      (await catalogs.of(stack.tenant, 'main', version)).list().map((tool) => tool.name);
    const before = await names();
    const version = async (): Promise<number> =>
      Number(
        (await stack.pool.query(`select version from changes where kind = 'custom_tools'`)).rows[0].version,
      );
    const old = await version();
    await make({ name: 'notice_lost', command: 'true' });
    assert.deepEqual(await names(old), before, 'a known version costs no query');
    assert.ok((await names(await version())).includes('notice_lost'), 'a newer one is read');
    assert.equal(received.length, 1);
    const newest = await version();
    await make({ name: 'notice_came', command: 'true' });
    received[0]?.(stack.tenant);
    await stack.worker.until('the tools of the notice', async () =>
      (await names(newest)).includes('notice_came') ? true : undefined,
    );
    assert.equal((await catalogs.of('no-such-tenant', 'main', 0)).list().length, 0);
  });
});
