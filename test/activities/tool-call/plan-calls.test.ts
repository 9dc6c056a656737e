/** Plans what the loop does with a model's calls, without a server; rules, scrubber and sealer are the real ones. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BoundFile } from '#domain/approval/bound-file.ts';
import type { AgentConfig } from '#domain/agent.ts';
import {
  type CallBasis,
  type CallPlan,
  type PlanDeps,
  planCalls,
  planRecorded,
  realArgs,
} from '#activities/tool-call/plan-calls.ts';
import { createPlainEngine } from '#activities/turn/step-engine.ts';
import type { PlannedCall } from '#domain/turn/turn-activities.ts';
import type { Tool } from '#policy/define-tool.ts';
import type { TurnLedger } from '#store/turns/turn-ledger.ts';
import { agent, placeOf, rulesOf, scrubber, sealer, SECRET, someTools, TENANT } from './fakes.ts';

const catalog = someTools();
const deps: PlanDeps = {
  guards: { ofCall: () => Promise.resolve(undefined), plannedCommand: () => undefined },
  rules: rulesOf(catalog),
  scrubber,
  sealer,
  approvalSeconds: 600,
  sandbox: {},
  placeOf,
  boundFiles: () => Promise.resolve([]),
  knownAddresses: async () => ({}),
  needsToken: () => Promise.resolve(false),
  wall: 'files and network',
  engine: createPlainEngine({} as TurnLedger),
};

const ASKED_AT = Date.UTC(2026, 0, 1);
const basis: CallBasis = {
  catalog,
  tenant: TENANT,
  session: 's',
  turn: 'm-1',
  step: 2,
  user: 'ada',
  agent,
  context: {},
  requestedAt: ASKED_AT,
  allowlist: [],
  used: {},
  sandbox: null,
  place: 'host',
};

function plan(
  requests: readonly { name: string; args: Record<string, unknown>; invalid?: string }[],
  overrides: Partial<PlanDeps> = {},
  own: Partial<AgentConfig> = {},
): Promise<CallPlan> {
  const calls = requests.map((call, index) => ({ id: `c${index}`, ...call }));
  return planCalls(
    { ...deps, ...overrides },
    { ...basis, agent: { ...agent, ...own } },
    calls,
    new AbortController().signal,
  );
}

const probe = (note: string) => ({ name: 'look', args: { note } });
const act = (note: string) => ({ name: 'act', args: { note } });

describe('PO-3 what a model asked for', () => {
  test('is planned in its order when the rules allow it', async () => {
    const { calls, approvals, planned } = await plan([probe('a'), probe('b')]);
    assert.deepEqual(
      planned.map(({ tool, summary, timeout }) => ({ tool, summary, timeout })),
      ['a', 'b'].map((note) => ({ tool: 'look', summary: `look: ${note}`, timeout: 30 })),
    );
    assert.deepEqual(
      calls.map(({ id, verdict, state }) => ({ id, verdict, state })),
      planned.map(({ id }) => ({ id, verdict: 'allow', state: undefined })),
    );
    assert.deepEqual(approvals, []);
  });

  test('is scheduled by the engine of the worker', async () => {
    const scheduled = (call: PlannedCall, tool: Tool): PlannedCall => ({
      ...call,
      serial: tool.name === 'act' ? true : undefined,
    });
    const { planned } = await plan([probe('a'), act('b')], { engine: { scheduled } });
    assert.deepEqual(
      planned.map(({ serial }) => serial),
      [undefined, true],
    );
  });

  test('and the rules deny is over before it began, with the reason as its result', async () => {
    const { calls, planned } = await plan([probe('a')], {}, { tools: { deny: ['look'] } });
    assert.deepEqual(planned, []);
    const [call] = calls;
    assert.deepEqual(
      [call?.verdict, call?.state, call?.ok, call?.code],
      ['deny', 'done', false, 'PermissionDenied'],
    );
    assert.match(call?.result ?? '', /^PermissionDenied: look is not among the tools that main was given/);
  });

  test('of no tool, with wrong arguments or that is no JSON is told what is wrong with it', async () => {
    const requests = [
      { name: 'lok', args: {} },
      { name: 'look', args: { mode: 'plain' } },
      { name: 'look', args: {}, invalid: 'the arguments are no JSON' },
    ];
    const { calls, planned } = await plan(requests);
    assert.deepEqual(planned, []);
    assert.deepEqual(
      calls.map(({ code }) => code),
      ['NotFound', 'InvalidArgs', 'InvalidArgs'],
    );
    assert.match(calls[0]?.result ?? '', /did you mean look/);
    assert.match(calls[2]?.result ?? '', /no JSON/);
  });

  test('of a tool that the agent was not given is denied, whatever its arguments', async () => {
    const requests = [{ name: 'act', args: {} }, { ...act('a'), invalid: 'no JSON' }, act('a')];
    const { calls, planned } = await plan(requests, {}, { tools: { deny: ['act'] } });
    assert.deepEqual(planned, []);
    assert.deepEqual(
      calls.map(({ code }) => code),
      ['PermissionDenied', 'PermissionDenied', 'PermissionDenied'],
    );
  });

  test('beyond 64 calls is refused with one word for all of them', async () => {
    const { calls, planned } = await plan(Array.from({ length: 70 }, (_, index) => probe(`${index}`)));
    assert.equal(planned.length, 64);
    assert.equal(calls.length, 65);
    assert.match(
      calls[64]?.result ?? '',
      /^RateLimited: .* asked for 70: this one and the 5 after it have not run/,
    );
  });

  test('SH-4 as a plain command, though its program has credentials, is refused', async () => {
    const plannedCommand = (): string => 'gh has credentials: use credentialed_exec';
    const { calls, planned } = await plan([{ name: 'exec', args: { command: 'gh pr list' } }], {
      guards: { ofCall: () => Promise.resolve(undefined), plannedCommand },
    });
    assert.deepEqual(planned, []);
    assert.equal(calls[0]?.result, 'PermissionDenied: gh has credentials: use credentialed_exec');
  });
});

describe('AP-1 a call that people are asked about', () => {
  test('has an approval that is bound to it and ends by the clock of the database', async () => {
    const { calls, approvals, planned } = await plan([act('ship it')]);
    const [call] = calls;
    const [approval] = approvals;
    assert.equal(call?.verdict, 'ask');
    assert.equal(call.approval_id, approval?.id);
    assert.equal(call.digest, approval?.digest);
    assert.deepEqual(
      [approval?.call_id, approval?.user, approval?.reason, approval?.summary],
      [call.id, 'ada', 'it acts', 'act: ship it'],
    );
    assert.equal(approval?.expires_at, new Date(ASKED_AT + 600_000).toISOString());
    assert.deepEqual(planned[0]?.approval?.until, ASKED_AT + 600_000);
    assert.equal(planned[0]?.approval?.token, undefined);
  });

  test('waits as long and for as many as its rule says', async () => {
    const ask = [{ tool: 'act', expires_seconds: 60, quorum: 2, approvers: { users: ['bo', 'cy'] } }];
    const { approvals, planned } = await plan([act('x')], {}, { tools: { ask } });
    assert.equal(approvals[0]?.expires, 60);
    assert.equal(planned[0]?.approval?.quorum, 2);
    assert.deepEqual(approvals[0]?.always, { refused: 'later calls would need no quorum' });
  });

  test('that runs files is bound to what they hold, and is not offered for always', async () => {
    const file: BoundFile = { path: 'run.sh', sha256: 'ab'.repeat(32), bytes: 3 };
    const bare = await plan([act('x')]);
    const bound = await plan([act('x')], { boundFiles: () => Promise.resolve([file]) });
    const other = await plan([act('x')], { boundFiles: () => Promise.resolve([{ ...file, bytes: 4 }]) });
    const digests = [bare, bound, other].map(({ approvals }) => approvals[0]?.digest);
    assert.equal(new Set(digests).size, 3);
    assert.match(JSON.stringify(bound.approvals[0]?.always), /refused/);
    assert.match(bound.planned[0]?.approval?.files ?? '', /^run\.sh \(3 bytes/);
  });

  test('needs a token where the deployment says so, as its row and its workflow know', async () => {
    const needsToken = (tenant: string): Promise<boolean> => Promise.resolve(tenant === TENANT);
    const { approvals, planned } = await plan([probe('a'), act('b')], { needsToken });
    assert.equal(approvals[0]?.terms.decision_token, true);
    assert.equal(planned[1]?.approval?.token, true);
  });

  test('and nobody is asked whether tokens are needed while nothing is put to people', async () => {
    await plan([probe('a')], { needsToken: () => Promise.reject(new Error('asked')) });
  });
});

describe('SC-3 arguments with a secret', () => {
  test('are shown without it, and kept sealed for the call alone', async () => {
    const { calls, approvals } = await plan([act(`say ${SECRET}`)]);
    const [call] = calls;
    assert.ok(call?.sealed);
    assert.doesNotMatch(JSON.stringify([{ ...call, sealed: '' }, approvals]), new RegExp(SECRET));
    const row = { id: call.id, args: call.args, sealed: call.sealed };
    assert.deepEqual(realArgs(sealer, TENANT, row), { note: `say ${SECRET}` });
    assert.throws(() => realArgs(sealer, TENANT, { ...row, id: 'another' }));
    assert.throws(() => realArgs(sealer, 'other', row));
    assert.deepEqual(approvals[0]?.always, { refused: 'it holds a secret' });
  });

  test('and none are kept as they are', async () => {
    const { calls } = await plan([act('nothing to hide')]);
    assert.deepEqual([calls[0]?.args, calls[0]?.sealed], [{ note: 'nothing to hide' }, undefined]);
  });
});

describe('DU-1 a step that is repeated', () => {
  const recorded = (overrides: Partial<Parameters<typeof planRecorded>[2][number]>) => ({
    id: 'call-1',
    tool: 'act',
    args: { note: 'x' },
    approval: null,
    expires: null,
    until: null,
    digest: null,
    terms: null,
    state: 'planned',
    ...overrides,
  });

  test('plans from the rows what is not done yet, as it was planned before', async () => {
    const { planned, approvals } = await plan([act('x')]);
    const [first] = planned;
    const row = recorded({
      id: first?.id ?? '',
      approval: approvals[0]?.id ?? '',
      expires: 600,
      until: ASKED_AT + 600_000,
      digest: approvals[0]?.digest ?? null,
      always: approvals[0]?.always ?? null,
    });
    assert.deepEqual(planRecorded(deps, basis, [row, recorded({ state: 'done' })]), planned);
  });

  test('leaves it to the activity to say that a tool is gone', () => {
    const [planned] = planRecorded(deps, basis, [recorded({ tool: 'gone' })]);
    assert.deepEqual([planned?.tool, planned?.summary], ['gone', 'gone']);
  });
});
