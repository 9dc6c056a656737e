import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type FakeApi, problem, startFakeApi } from '#test/cli/support/fake-api.ts';
import { runCli, startCli } from '#test/cli/support/run-cli.ts';

describe('IN-6 tempoclaw run', () => {
  let api: FakeApi;
  beforeEach(async () => {
    api = await startFakeApi();
  });
  afterEach(() => api.close());

  test('prints progress to stderr and only the answer to stdout', async () => {
    api.onMessage((turn, session) => {
      api.emit(session, turn, 'turn.started');
      api.emit(session, turn, 'tool.started', {
        call_id: 'c1',
        tool: 'exec',
        step: 1,
        summary: 'exec: npm test',
      });
      api.emit(session, turn, 'tool.completed', {
        call_id: 'c1',
        tool: 'exec',
        ok: false,
        code: 'Timeout',
        duration_ms: 1500,
      });
      api.emit(session, turn, 'message.delta', { text: 'It ', step: 2, attempt: 1 });
      api.emit(session, turn, 'message.completed', { message_id: 'm', text: 'It failed.', step: 2 });
      api.emit(session, turn, 'turn.completed', { text: 'It failed.', steps: 2 });
    });
    const { code, stdout, stderr } = await runCli(['run', 'test it', '--agent', 'main'], { url: api.url });
    assert.equal(code, 0);
    assert.equal(stdout, 'It failed.\n');
    assert.match(stderr, /● exec: npm test\n✘ exec: npm test 1\.5 s Timeout\n/);
    const sent = api.requests.find((request) => request.method === 'POST');
    assert.deepEqual(sent?.body, { text: 'test it', mode: 'queue', agent: 'main' });
    assert.ok(sent?.headers['idempotency-key']);
  });

  test('at a terminal the answer streams, breaks between words, and is not printed again', async () => {
    let go: () => void = () => {};
    api.onMessage((turn, session) => {
      const text = 'The answer is longer than what a line of a narrow terminal has room for.';
      const delta = (piece: string): unknown =>
        api.emit(session, turn, 'message.delta', { text: piece, step: 1, attempt: 1 });
      api.emit(session, turn, 'turn.started');
      delta('The answer is lon');
      go = () => {
        delta(text.slice(17));
        api.emit(session, turn, 'message.completed', { message_id: 'm', text, step: 1 });
        api.emit(session, turn, 'turn.completed', { text, steps: 1 });
      };
    });
    const run = startCli(['run', 'tell'], { url: api.url, terminal: true, columns: 40 });
    await run.sees(/The answer is/);
    go();
    const { code, stdout } = await run.ended;
    assert.equal(code, 0);
    assert.equal(stdout.match(/The answer/g)?.length, 1);
    assert.match(stdout, /The answer is longer than what a line of\r\na narrow terminal has room for\.\r\n$/);
  });

  test('exits 1 when the turn fails, and says why', async () => {
    api.onMessage((turn, session) => {
      api.emit(session, turn, 'turn.failed', { error: { code: 'ModelFailed', message: 'no key' } });
    });
    const { code, stdout, stderr } = await runCli(['run', 'hello'], { url: api.url });
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /the turn failed: ModelFailed: no key/);
  });

  test('exits 1 when the turn is stopped by somebody else', async () => {
    api.onMessage((turn, session) => {
      api.emit(session, turn, 'turn.stopped', { by: 'key:boss' });
    });
    const { code, stderr } = await runCli(['run', 'hello'], { url: api.url });
    assert.equal(code, 1);
    assert.match(stderr, /stopped by key:boss/);
  });

  test('--json prints the turn and nothing else on stdout', async () => {
    api.onMessage((turn, session) => {
      api.emit(session, turn, 'turn.completed', { text: 'done', steps: 1 });
    });
    const { code, stdout } = await runCli(['run', 'hello', '--json'], { url: api.url });
    assert.equal(code, 0);
    const turn = JSON.parse(stdout) as Record<string, unknown>;
    assert.equal(turn['status'], 'completed');
    assert.equal(turn['text'], 'done');
  });

  test('reads what to say from a pipe', async () => {
    api.onMessage((turn, session, text) => {
      api.emit(session, turn, 'turn.completed', { text: `heard ${text}`, steps: 1 });
    });
    const { stdout } = await runCli(['run'], { url: api.url, input: 'from a pipe' });
    assert.equal(stdout, 'heard from a pipe\n');
  });

  test('without a terminal an approval is not asked: the command that decides it is printed, and the turn waited for', async () => {
    let decide: () => void = () => {};
    api.onMessage((turn, session) => {
      api.setApproval('apr_9', { turn_id: turn });
      api.emit(session, turn, 'approval.requested', {
        approval_id: 'apr_9',
        tool: 'exec',
        summary: 'exec: rm -r build',
      });
      decide = () => {
        api.emit(session, turn, 'approval.decided', {
          approval_id: 'apr_9',
          status: 'approved',
          by: 'key:boss',
        });
        api.emit(session, turn, 'turn.completed', { text: 'gone', steps: 1 });
      };
    });
    const run = startCli(['run', 'clean up'], { url: api.url });
    await run.sees(/tempoclaw approvals approve apr_9/);
    decide();
    const { code, stdout } = await run.ended;
    assert.equal(code, 0);
    assert.equal(stdout, 'gone\n');
  });

  test('--approve-all approves each call that is asked about', async () => {
    api.onMessage((turn, session) => {
      api.setApproval('apr_10', { turn_id: turn });
      api.emit(session, turn, 'approval.requested', { approval_id: 'apr_10', tool: 'exec', summary: 'x' });
    });
    api.on((request) => {
      if (request.path !== '/v1/approvals/apr_10/decision') return undefined;
      const turn = String(api.approval('apr_10')?.['turn_id']);
      const session = decodeURIComponent(
        api.requests.findLast((one) => one.path.endsWith('/messages'))?.path.split('/')[3] ?? '',
      );
      setImmediate(() => api.emit(session, turn, 'turn.completed', { text: 'ran', steps: 1 }));
      return undefined;
    });
    const { code, stdout } = await runCli(['run', 'clean up', '--approve-all'], { url: api.url });
    assert.equal(code, 0);
    assert.equal(stdout, 'ran\n');
    assert.equal(api.approval('apr_10')?.['decision'], 'approve');
  });

  test('Ctrl-C stops that turn, waits for its end and exits 130', async () => {
    const running = Promise.withResolvers<void>();
    api.onMessage((turn, session) => {
      api.emit(session, turn, 'turn.started');
      api.emit(session, turn, 'tool.started', { call_id: 'c', tool: 'wait', step: 1, summary: 'wait: long' });
      running.resolve();
    });
    api.on((request) => {
      if (!request.path.endsWith('/stop')) return undefined;
      const session = decodeURIComponent(request.path.split('/')[3] ?? '');
      setImmediate(() =>
        api.emit(session, String(request.body['turn_id']), 'turn.stopped', { by: 'key:test' }),
      );
      return undefined;
    });
    const run = startCli(['run', 'wait long'], { url: api.url });
    await run.sees(/● wait: long/);
    run.child.kill('SIGINT');
    const { code } = await run.ended;
    assert.equal(code, 130);
    const stop = api.requests.findLast((request) => request.path.endsWith('/stop'));
    assert.equal(stop?.body['level'], 'now');
    assert.match(String(stop?.body['turn_id']), /^turn_/);
  });

  test('goes on with Last-Event-ID when the API restarts in the middle of a turn, showing nothing twice', async () => {
    let finish: () => void = () => {};
    api.onMessage((turn, session) => {
      api.emit(session, turn, 'turn.started');
      api.emit(session, turn, 'tool.started', { call_id: 'c', tool: 'exec', step: 1, summary: 'exec: one' });
      finish = () => {
        api.emit(session, turn, 'tool.completed', { call_id: 'c', tool: 'exec', ok: true });
        api.emit(session, turn, 'turn.completed', { text: 'survived', steps: 1 });
      };
    });
    const run = startCli(['run', 'go'], { url: api.url });
    await run.sees(/● exec: one/);
    await api.cut();
    finish();
    await run.sees(/Trying again/);
    await api.restart();
    const { code, stdout, stderr } = await run.ended;
    assert.equal(code, 0);
    assert.equal(stdout, 'survived\n');
    assert.equal(stderr.match(/● exec: one/g)?.length, 1);
    const again = api.requests.findLast((request) => request.path.endsWith('/events'));
    assert.equal(again?.headers['last-event-id'], '2');
  });

  test('a message refused with 503 is sent again under the same Idempotency-Key', async () => {
    let refusals = 0;
    api.on((request) => {
      if (request.method !== 'POST' || !request.path.endsWith('/messages') || refusals > 0) return undefined;
      refusals += 1;
      return {
        status: 503,
        body: problem(503, 'Unavailable', 'Temporal does not answer'),
        headers: { 'retry-after': '1' },
      };
    });
    api.onMessage((turn, session) => {
      api.emit(session, turn, 'turn.completed', { text: 'at last', steps: 1 });
    });
    const before = api.requests.length;
    const { code, stdout } = await runCli(['run', 'hello'], { url: api.url });
    assert.equal(code, 0);
    assert.equal(stdout, 'at last\n');
    const keys = api.requests
      .slice(before)
      .filter((one) => one.method === 'POST')
      .map((one) => one.headers['idempotency-key']);
    assert.equal(keys.length, 2);
    assert.equal(keys[0], keys[1]);
  });

  test('control characters in words of models and tools do not reach the terminal', async () => {
    api.onMessage((turn, session) => {
      api.emit(session, turn, 'tool.started', {
        call_id: 'c',
        tool: 'exec',
        step: 1,
        summary: 'exec: \u001b[2Jecho \u009b31m\u202eevil',
      });
      api.emit(session, turn, 'turn.completed', { text: 'x', steps: 1 });
    });
    const { stderr } = await runCli(['run', 'go'], { url: api.url });
    assert.doesNotMatch(stderr, /[\u001b\u009b\u202e]/);
    assert.match(stderr, /exec: echo /);
  });
});
