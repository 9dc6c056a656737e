/**
 * The path around every tool, without a server: the ledger decides whether it runs, and its result is recorded once.
 */
import { NO_READS } from '#test/support/tool-call.ts';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CancelledFailure } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DatabaseError } from 'pg';
import { createModels } from '#activities/model/model-catalog.ts';
import type { AgentConfig } from '#domain/agent.ts';
import type { BoundFile } from '#domain/approval/bound-file.ts';
import { Failure } from '#domain/errors.ts';
import { toolError, type ToolResult } from '#domain/tool.ts';
import type { RunToolInput, RunToolResult } from '#domain/turn/turn-activities.ts';
import { joinGuards } from '#activities/guards.ts';
import { createStartGate } from '#activities/start-gate.ts';
import type { RunnableCall } from '#activities/tool-call/claimed-call.ts';
import { createPlainEngine } from '#activities/turn/step-engine.ts';
import { callDigest } from '#activities/tool-call/call-digest.ts';
import { createRunTool, type RunToolDeps } from '#activities/tool-call/run-tool.ts';
import { createCatalog } from '#policy/catalog.ts';
import type { Tool } from '#policy/define-tool.ts';
import type { Claim } from '#store/turns/call-claim.ts';
import type { NewAsk } from '#store/approvals/approval-questions.ts';
import type { ResultRecord, TurnLedger } from '#store/turns/turn-ledger.ts';
import { agent, countingTool, placeOf, rulesOf, scrubber, sealer, SECRET, TENANT } from './fakes.ts';

const CALL = 'm-1.1.0';
const INPUT: RunToolInput = { tenant: TENANT, call: CALL };
const WHERE = { session: 's', turn: 'm-1' };

/** A claim of a call of `act` that may run. */
function running(overrides: Partial<RunnableCall> = {}): RunnableCall {
  const args = overrides.args ?? { note: 'x' };
  return {
    kind: 'run',
    ...WHERE,
    claimed: true,
    budgeted: false,
    step: 1,
    tool: 'act',
    called_as: 'act',
    summary: 'act: x',
    args,
    sealed: null,
    digest: callDigest('act', args),
    approved: false,
    context: {},
    documents: null,
    skills: [],
    tenant_policy: null,
    agent: { ...agent, tools: {} },
    allowlist: [],
    used: {},
    ...overrides,
  };
}

/** Postgres' error while a new version of its functions has other arguments. */
function missingFunction(): Error {
  return Object.assign(new DatabaseError('function record_result does not exist', 0, 'error'), {
    code: '42883',
  });
}

interface Stage {
  readonly run: (env?: MockActivityEnvironment) => Promise<RunToolResult>;
  readonly fences: readonly string[];
  readonly records: readonly ResultRecord[];
  readonly settled: readonly { readonly code: string | null | undefined; readonly text: string }[];
  readonly asks: readonly NewAsk[];
}

interface StageOptions {
  readonly deps?: Partial<RunToolDeps>;
  /** What the ledger says when it is read again. */
  readonly next?: Claim;
  /** Called before a result is recorded. */
  readonly onRecord?: () => void;
}

function stage(tool: Tool, claim: Claim, { deps, onRecord, next = claim }: StageOptions = {}): Stage {
  const seen = {
    fences: [] as string[],
    records: [] as ResultRecord[],
    settled: [] as never[],
    asks: [] as NewAsk[],
  };
  const ledger: Partial<TurnLedger> = {
    claim: (_tenant, _call, fence) => {
      seen.fences.push(fence);
      return Promise.resolve(seen.fences.length > 1 ? next : claim);
    },
    recordResult: async (record) => {
      onRecord?.();
      seen.records.push(record);
      return { recorded: true };
    },
    settle: async (_key, calls) => void seen.settled.push(...(calls as never[])),
    askAgain: (_tenant, _session, _call, _fence, ask) => {
      assert.ok(!('form' in ask));
      seen.asks.push(ask);
      const { id: approval, expires, always, files, digest } = ask;
      return Promise.resolve({ approval, expires, until: 1_000, digest, terms: null, always, files });
    },
    appendEvents: () => Promise.resolve(),
  };
  const catalog = createCatalog([tool]);
  const parts: Omit<RunToolDeps, 'scrubber'> = {
    ledger: ledger as TurnLedger,
    engine: createPlainEngine(ledger as TurnLedger),
    rateLimit: { perHour: 0, burst: 0 },
    budgets: { request: () => ({}) } as unknown as RunToolDeps['budgets'],
    models: createModels({ providers: {} }),
    approvalSeconds: 600,
    needsToken: async () => false,
    startGate: createStartGate(joinGuards([])),
    catalogs: { of: () => Promise.resolve(catalog) },
    rules: rulesOf(catalog),
    sealer,
    tools: {} as RunToolDeps['tools'],
    egressSettings: {},
    documentWritten: [],
    mayReverse: () => Promise.resolve(false),
    workspaceOf: () => ({ workspace: '/nowhere', shows: 'user' }),
    sandbox: {},
    placeOf,
    boundFiles: () => Promise.resolve([]),
    knownAddresses: async () => ({}),
    callReads: NO_READS,
    guards: joinGuards([]),
    ...deps,
  };
  const activity = createRunTool({ ...parts, scrubberOf: () => Promise.resolve(scrubber) }, tool);
  const run = (env = new MockActivityEnvironment({ attempt: 1 })): Promise<RunToolResult> =>
    env.run<[RunToolInput], RunToolResult, typeof activity>(activity, INPUT);
  return { run, ...seen };
}

describe('EX-3 a call that may run', () => {
  test('SH-4 but not when a guard refuses its command', async () => {
    const { tool, ran } = countingTool('exec', 'once', async () => ({ ok: true, text: 'ran' }));
    const requests: string[] = [];
    const command = async (_call: unknown, line: string) => {
      requests.push(line);
      return toolError('PermissionDenied', 'gh has credentials');
    };
    const args = { command: 'gh pr list' };
    const claim = running({ tool: 'exec', args, digest: callDigest('exec', args), approved: true });
    const { run, records } = stage(tool, claim, {
      deps: { guards: joinGuards([{}, { command }]), tools: { files: {} } as never },
    });
    assert.equal((await run()).code, 'PermissionDenied');
    assert.match(records[0]?.text ?? '', /gh has credentials/);
    assert.deepEqual([requests, ran], [['gh pr list'], []]);
  });

  test('runs once and is recorded under the fence of its claim, without secrets', async () => {
    const { tool, ran } = countingTool('act', 'once', async () => ({ ok: true, text: `found ${SECRET}` }));
    const { run, records, fences } = stage(tool, running());
    const outcome = await run();
    assert.equal(outcome.ok, true);
    assert.deepEqual(ran, ['x']);
    assert.deepEqual(
      records.map(({ fence, ok, code }) => ({ fence, ok, code })),
      [{ fence: fences[0], ok: true, code: null }],
    );
    assert.match(records[0]?.text ?? '', /^found /);
    assert.doesNotMatch(JSON.stringify([records, outcome]), new RegExp(SECRET));
  });

  test('runs with its real arguments, of which the row shows less', async () => {
    const args = { note: SECRET };
    const sealed = sealer.seal(JSON.stringify(args), `${TENANT}/tool_calls/${CALL}`);
    const { tool, ran } = countingTool('act', 'once');
    await stage(tool, running({ args: { note: '***' }, sealed, digest: callDigest('act', args) })).run();
    assert.deepEqual(ran, [SECRET]);
  });

  test('and was recorded with its answer gives that, and asks the ledger nothing', async () => {
    const engine = { ...createPlainEngine({} as TurnLedger), knownResult: () => ({ ok: true }) };
    const { tool, ran } = countingTool('act', 'readonly');
    const { run, fences } = stage(tool, { kind: 'missing' }, { deps: { engine } });
    assert.deepEqual(await run(), { ok: true });
    assert.deepEqual([ran, fences], [[], []]);
  });

  test('and throws is a result for the model', async () => {
    const { tool } = countingTool('act', 'once', () => Promise.reject(new Error('out of paper')));
    const { run, records } = stage(tool, running());
    assert.deepEqual(await run(), { ok: false, code: 'ExecutionFailed', child: undefined });
    assert.equal(records[0]?.text, 'ExecutionFailed: out of paper');
  });

  for (const [what, error] of [
    ['Postgres', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })],
    ['a function of Postgres', missingFunction()],
    ['Temporal', new Failure('Unavailable', 'it does not answer')],
  ] as const)
    test(`and meets ${what} away is run again where that is safe, and told to the model where not`, async () => {
      const again = countingTool('act', 'idempotent', () => Promise.reject(error));
      const { run, records } = stage(again.tool, running());
      await assert.rejects(run(), { type: 'Unavailable', nonRetryable: false });
      assert.deepEqual(records, []);
      const once = stage(countingTool('act', 'once', () => Promise.reject(error)).tool, running());
      assert.deepEqual((await once.run()).code, 'OutcomeUnknown');
      assert.doesNotMatch(once.records[0]?.text ?? '', /record_result/);
    });

  test('and is kept by Postgres from its beginning has not run, and is said so', async () => {
    const { tool, ran } = countingTool('act', 'once');
    const boundFiles = () => Promise.reject(missingFunction());
    const { run, records } = stage(tool, running({ approved: true }), { deps: { boundFiles } });
    assert.equal((await run()).code, 'ExecutionFailed');
    assert.match(records[0]?.text ?? '', /has not run/);
    assert.deepEqual(ran, []);
  });

  test('and meets a file that is gone is not run again for it', async () => {
    const error = Object.assign(new Error('no such file'), { code: 'ENOENT', syscall: 'open' });
    const { tool } = countingTool('act', 'readonly', () => Promise.reject(error));
    assert.deepEqual((await stage(tool, running()).run()).code, 'ExecutionFailed');
  });

  test('has its result written down when Postgres is there again, and is not run again for it', async () => {
    let away = 2;
    const onRecord = (): void => {
      if (away-- > 0) throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
    };
    const { tool, ran } = countingTool('act', 'once');
    const { run, records } = stage(tool, running(), { onRecord });
    assert.equal((await run()).ok, true);
    assert.deepEqual([ran.length, records.length], [1, 1]);
  });

  test('has its result recorded when the function for that is there again', async () => {
    let missing = 3;
    const onRecord = (): void => {
      if (missing-- > 0) throw missingFunction();
    };
    const { tool, ran } = countingTool('act', 'once');
    const { run, records } = stage(tool, running(), { onRecord });
    assert.equal((await run()).ok, true);
    assert.deepEqual([ran.length, records.length], [1, 1]);
  });

  test('gives its own outcome away unrecorded when its worker ends before Postgres takes it', async () => {
    const onRecord = (): void => {
      throw missingFunction();
    };
    const { tool } = countingTool('act', 'once', async () => ({ ok: true, text: `found ${SECRET}` }));
    const { run } = stage(tool, running(), { onRecord });
    const env = new MockActivityEnvironment({ attempt: 1 });
    const outcome = run(env);
    env.cancel('WORKER_SHUTDOWN');
    const { ok, unrecorded } = await outcome;
    assert.equal(ok, true);
    assert.match(unrecorded ?? '', /^found /);
    assert.doesNotMatch(unrecorded ?? '', new RegExp(SECRET));
  });

  test('and starts a child that is waited for stays open until the child has its result', async () => {
    const child = { type: 'subagent', id: 'subagent/1', input: {}, wait: true } as never;
    const { tool } = countingTool('act', 'once', async () => ({ ok: true, text: 'begun', child }));
    const { run, records } = stage(tool, running());
    assert.deepEqual((await run()).child, child);
    assert.deepEqual(records, []);
  });
});

describe('DU-2 a call that the ledger does not give', () => {
  test('because it is done has its recorded outcome', async () => {
    const { tool, ran } = countingTool('act', 'once');
    const claim: Claim = { kind: 'done', ok: false, code: 'NotFound', result: '…', child: null };
    assert.deepEqual(await stage(tool, claim).run(), { ok: false, code: 'NotFound', child: undefined });
    assert.deepEqual(await stage(tool, { kind: 'missing' }).run(), { ok: false, code: 'NotFound' });
    assert.deepEqual(ran, []);
  });

  test('does not run, and the model is told why', async () => {
    const refused = (status: string): Claim => ({ kind: 'refused', status, ...WHERE });
    for (const [claim, code] of [
      [{ kind: 'lost', args: {}, ...WHERE }, 'OutcomeUnknown'],
      [{ kind: 'limited', seconds: 9, ...WHERE }, 'RateLimited'],
      [refused('over'), 'Cancelled'],
      [refused('expired'), 'ApprovalExpired'],
      [refused('withdrawn'), 'ApprovalWithdrawn'],
      [refused('denied'), 'ApprovalDenied'],
    ] as const) {
      const { tool, ran } = countingTool('act', 'once');
      const { run, settled } = stage(tool, claim);
      assert.deepEqual(await run(), { ok: false, code });
      assert.deepEqual([ran, settled.map((one) => one.code)], [[], [code]]);
      assert.match(settled[0]?.text ?? '', new RegExp(`^${code}: `));
    }
  });
});

describe('DU-2 a tool of which some calls only read', () => {
  const reading = (run?: (note: string) => Promise<ToolResult>): ReturnType<typeof countingTool> => {
    const { tool, ran } = countingTool('act', 'once', run);
    return { tool: { ...tool, onlyReads: ({ note }) => note === 'look' }, ran };
  };
  const lost = (note: string): Claim => ({ kind: 'lost', args: { note }, ...WHERE });
  const probe = running({ args: { note: 'look' } });

  test('runs these again after a lost attempt, and no other', async () => {
    const again = reading();
    assert.equal((await stage(again.tool, lost('look'), { next: probe }).run()).ok, true);
    assert.deepEqual(again.ran, ['look']);
    const not = reading();
    assert.deepEqual((await stage(not.tool, lost('x'), { next: running() }).run()).code, 'OutcomeUnknown');
    assert.deepEqual(not.ran, []);
  });

  test('has these tried again when Postgres is away, and no other', async () => {
    const error = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    await assert.rejects(stage(reading(() => Promise.reject(error)).tool, probe).run(), {
      type: 'Unavailable',
    });
    const other = stage(reading(() => Promise.reject(error)).tool, running());
    assert.equal((await other.run()).code, 'OutcomeUnknown');
  });
});

describe('DU-2 a call of class verify whose worker was lost', () => {
  const probing = (found: ToolResult | undefined) => {
    const { tool, ran } = countingTool('act', 'verify');
    const requests: unknown[] = [];
    const probe: Tool['probe'] = async (_deps, input) => {
      requests.push(input);
      return found;
    };
    return { tool: { ...tool, probe }, ran, asked: requests };
  };
  const done: ToolResult = { ok: true, text: 'it was done' };
  const unknown: ToolResult = { ok: false, code: 'OutcomeUnknown', message: 'nobody knows' };

  test('is not run again where the probe finds it done, or cannot tell', async () => {
    for (const found of [done, unknown]) {
      const { tool, ran } = probing(found);
      const { run, records } = stage(tool, running({ again: true }));
      assert.equal((await run()).ok, found.ok);
      assert.deepEqual([ran, records[0]?.code], [[], found.ok ? null : 'OutcomeUnknown']);
    }
  });

  test('is run where it was not done, and asks nothing the first time', async () => {
    const { tool, ran, asked } = probing(undefined);
    assert.equal((await stage(tool, running({ again: true })).run()).ok, true);
    assert.deepEqual([ran, asked], [['x'], [{ note: 'x' }]]);
    assert.equal((await stage(tool, running()).run()).ok, true);
    assert.equal(asked.length, 1);
  });
});

describe('PO-3 a call is judged again before it runs', () => {
  const outcomeOf = async (claim: RunnableCall): Promise<string> => {
    const { tool, ran } = countingTool('act', 'once');
    const { run, records } = stage(tool, claim);
    assert.equal((await run()).code, 'PermissionDenied');
    assert.deepEqual(ran, []);
    return records[0]?.text ?? '';
  };
  const withRules = (tools: NonNullable<AgentConfig['tools']>): RunnableCall =>
    running({ agent: { ...agent, tools } });

  test('and does not when the rules deny it by now, or ask and nobody was asked', async () => {
    assert.match(await outcomeOf(withRules({ deny: ['act'] })), /not among the tools/);
    assert.match(await outcomeOf(withRules({ ask: [{ tool: 'act' }] })), /the rules now ask for an approval/);
  });

  test('AP-4 nor when its arguments, or where it runs, are not what was judged', async () => {
    assert.match(
      await outcomeOf(running({ digest: callDigest('act', { note: 'y' }) })),
      /not those that were judged/,
    );
    const sandbox = { mode: 'required' } as never;
    assert.match(
      await outcomeOf(running({ sandbox, approved: true })),
      /the sandbox setting of agent main has changed/,
    );
  });

  test('AP-4 and is asked about anew when files that it runs have changed since', async () => {
    const then: BoundFile = { path: 'run.sh', sha256: 'a'.repeat(64), bytes: 1 };
    const now: BoundFile = { ...then, sha256: 'b'.repeat(64) };
    const { tool, ran } = countingTool('act', 'once');
    const digest = callDigest('act', { note: 'x' }, undefined, undefined, [then]);
    const claim = running({ approved: true, approval: 'apr_1', files: [then], digest });
    const boundFiles = (): Promise<readonly BoundFile[]> => Promise.resolve([now]);
    const { run, asks, records } = stage(tool, claim, { deps: { boundFiles } });
    const { approval: asked } = await run();
    assert.deepEqual([asked?.id, asks[0]?.files, ran, records], ['apr_1:again-1', [now], [], []]);
    assert.notEqual(asks[0]?.digest, digest);
  });

  test('AP-4 and is not asked about for ever', async () => {
    const now: BoundFile = { path: 'run.sh', sha256: 'b'.repeat(64), bytes: 1 };
    const { tool } = countingTool('act', 'once');
    const claim = running({ approved: true, approval: 'apr_1:again-2' });
    const { run, asks } = stage(tool, claim, { deps: { boundFiles: () => Promise.resolve([now]) } });
    assert.equal((await run()).code, 'ApprovalDenied');
    assert.deepEqual(asks, []);
  });
});

describe('DU-2 a call that is cut off', () => {
  /** Ends the activity for `reason` while the tool runs. */
  const cutOff = async (replay: Tool['replay'], reason: string) => {
    const env = new MockActivityEnvironment({ attempt: 1 });
    const { tool, ran } = countingTool('act', replay, (_note, signal) => {
      env.cancel(reason as never);
      return new Promise((_resolve, reject) => {
        const stop = (): void => reject(new CancelledFailure(reason));
        if (signal.aborted) stop();
        else signal.addEventListener('abort', stop);
      });
    });
    const { run, records } = stage(tool, running());
    const outcome = await run(env).catch((error: unknown) => error as Error);
    assert.equal(ran.length, 1);
    return { outcome, record: records[0] };
  };

  test('by the end of its worker is unknown if it may be done only once, and tried again if not', async () => {
    const once = await cutOff('once', 'WORKER_SHUTDOWN');
    assert.equal(once.record?.code, 'OutcomeUnknown');
    const again = await cutOff('idempotent', 'WORKER_SHUTDOWN');
    assert.equal(again.record, undefined);
    assert.ok(again.outcome instanceof Error);
    assert.match(again.outcome.message, /cut off/);
  });

  test('by a person is stopped, and what it had done is said', async () => {
    const { record } = await cutOff('once', 'CANCELLED');
    assert.equal(record?.code, 'Cancelled');
    assert.match(record.text, /what it had done by then stays done/);
  });
});
