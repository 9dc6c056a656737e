/** What becomes of a call, for every sequence of outcomes of its runs and probes (DU-2, IN-12). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openPayload, sealPayload } from '#domain/payload-seal.ts';
import type { ToolResult } from '#domain/tool.ts';
import type { PendingExternalCall } from '#domain/turn/pending-call.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { ActivityOnce, OnceOutcome } from '#temporal/activity-once.ts';
import { HOST_WORK, hostWorkPlace, type HostResult } from '../contract.ts';
import { runOnHost } from '../run-on-host.ts';
import type { CodeToolDefinition } from '../schema.ts';

const KEY = new Uint8Array(32).fill(3);
const DONE: HostResult = { ok: true, text: 'refunded' };

type Scripted = HostResult | 'unsent' | 'unknown' | 'unsupported';

/** Runs a call whose activities end as scripted, each with its own first letter and number: r1, p1, r2. */
async function outcomeOf(
  script: Readonly<Record<string, Scripted>>,
  definition: Partial<CodeToolDefinition> = {},
  remaining?: PendingExternalCall,
  /** Of the tool after its first run has begun. */
  revision = 1,
): Promise<{ readonly result: ToolResult; readonly started: readonly string[]; readonly kept: boolean }> {
  const started: string[] = [];
  let kept = false;
  const nameOf = ({ id, type }: ActivityOnce): string =>
    `${type === HOST_WORK.probe ? 'p' : 'r'}${/\/(\d)(?:\/probe)?$/.exec(id)?.[1]}`;
  const row = {
    id: '00000000-0000-4000-8000-000000000000',
    host: 'shop',
    revision: 1,
    definition: {
      name: 'refund',
      description: 'Refunds',
      parameters: {},
      replay: 'once',
      probes: false,
      approval: false,
      outside: false,
      secrets: ['stripe'],
      timeout_seconds: 60,
      hash: '',
      ...definition,
    } as CodeToolDefinition,
  };
  const call = {
    tenant: 't',
    callId: 'call_1',
    agent: 'main',
    user: null,
    sessionKey: 's',
    turnId: 'turn_1',
    idempotencyKey: 't/call_1',
    signal: new AbortController().signal,
    outside: {
      left: remaining,
      isStopped: false,
      async keep() {
        assert.deepEqual(started, [], 'what is begun was recorded before');
        kept = true;
      },
    },
  } as unknown as RunningCall;
  const result = await runOnHost({
    readAccess: async () => ({ version: 'v', key: KEY, revision: kept ? revision : 1 }),
    resolveOf: async (_tenant, text) => `value of ${text}`,
    once: {
      async run(work): Promise<OnceOutcome> {
        const name = nameOf(work);
        if (work.terms) started.push(name);
        const request = await openPayload(KEY, hostWorkPlace(work.id, 'request'), work.request);
        assert.deepEqual((request as { secrets: object }).secrets, { stripe: 'value of secret://stripe' });
        const outcome = script[name] ?? assert.fail(`${name} was not expected`);
        if (typeof outcome === 'string') return outcome;
        const iv = crypto.getRandomValues(new Uint8Array(12));
        return { result: await sealPayload(KEY, hostWorkPlace(work.id, 'result'), iv, outcome) };
      },
      cancel: async () => undefined,
    },
    row,
    input: { order: 'A1' },
    call,
  });
  return { result, started, kept };
}

function codeOf(result: ToolResult): string {
  return result.ok ? 'ok' : result.code;
}

describe('DU-2 IN-12 a call of a tool host', () => {
  it('is its result, recorded before it begins', async () => {
    const { result, started, kept } = await outcomeOf({ r1: DONE });
    assert.deepEqual([result, started, kept], [{ ok: true, text: 'refunded' }, ['r1'], true]);
    const failed = await outcomeOf({ r1: { ok: false, code: 'ExecutionFailed', message: 'no such order' } });
    assert.deepEqual(failed.result, { ok: false, code: 'ExecutionFailed', message: 'no such order' });
  });

  it('that may run once is unknown when its host is lost and nobody can say', async () => {
    const { result, started } = await outcomeOf({ r1: 'unknown' });
    assert.deepEqual([codeOf(result), started], ['OutcomeUnknown', ['r1']]);
  });

  it('that may run once is what its probe finds, and runs again only when nothing has happened', async () => {
    const probes = { probes: true };
    const found = await outcomeOf({ r1: 'unknown', p1: DONE }, probes);
    assert.deepEqual([codeOf(found.result), found.started], ['ok', ['r1', 'p1']]);
    const again = await outcomeOf({ r1: 'unknown', p1: { nothing: true }, r2: DONE }, probes);
    assert.deepEqual([codeOf(again.result), again.started], ['ok', ['r1', 'p1', 'r2']]);
    for (const silent of ['unknown', 'unsent'] as const) {
      const unknown = await outcomeOf({ r1: 'unknown', p1: silent }, probes);
      assert.deepEqual([codeOf(unknown.result), unknown.started], ['OutcomeUnknown', ['r1', 'p1']]);
    }
    const nothing = { nothing: true } as const;
    const never = await outcomeOf(
      { r1: 'unknown', p1: nothing, r2: 'unknown', p2: nothing, r3: 'unknown', p3: nothing },
      probes,
    );
    assert.equal(codeOf(never.result), 'ExecutionFailed');
  });

  it('that reads or is idempotent runs again, three times at most', async () => {
    for (const replay of ['read', 'idempotent'] as const) {
      const again = await outcomeOf({ r1: 'unknown', r2: DONE }, { replay });
      assert.deepEqual([codeOf(again.result), again.started], ['ok', ['r1', 'r2']]);
      const lost = await outcomeOf({ r1: 'unknown', r2: 'unknown', r3: 'unknown' }, { replay });
      assert.equal(codeOf(lost.result), replay === 'read' ? 'ExecutionFailed' : 'OutcomeUnknown');
    }
  });

  it('says that nothing was done when its host is not running, unless an earlier run may have', async () => {
    const away = await outcomeOf({ r1: 'unsent' });
    assert.match(JSON.stringify(away.result), /nothing was done.*tools serve --host shop/);
    const gone = await outcomeOf({ r1: 'unknown', r2: 'unsent' }, { replay: 'idempotent' });
    assert.equal(codeOf(gone.result), 'OutcomeUnknown');
    const old = await outcomeOf({ r1: 'unsupported' });
    assert.match(JSON.stringify(old.result), /1\.31/);
  });

  it('starts nothing again when Temporal may have forgotten what ran', async () => {
    const since = Date.now() - 24 * 3_600_000;
    const { result, started } = await outcomeOf({ r1: 'unknown' }, {}, { since, asks: 0 });
    assert.deepEqual([codeOf(result), started], ['OutcomeUnknown', []]);
  });

  it('is not run again as something else, when its tool was changed meanwhile', async () => {
    const nothing = await outcomeOf({ r1: 'unknown', p1: { nothing: true } }, { probes: true }, undefined, 2);
    assert.deepEqual([codeOf(nothing.result), nothing.started], ['PermissionDenied', ['r1', 'p1']]);
    const maybe = await outcomeOf({ r1: 'unknown' }, { replay: 'idempotent' }, undefined, 2);
    assert.equal(codeOf(maybe.result), 'OutcomeUnknown');
  });

  it('that another client has answered is unknown', async () => {
    const { result } = await outcomeOf({ r1: { ok: true, text: 7 } as never });
    assert.equal(codeOf(result), 'OutcomeUnknown');
  });
});
