import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { readChatLine } from '../chat/chat-line.ts';
import { type FakeApi, startFakeApi } from '#test/cli/support/fake-api.ts';
import { type CliRun, runCli, startCli } from '#test/cli/support/run-cli.ts';

const ENTER = '\r';
const CTRL_C = '\u0003';

describe('IN-6 tempoclaw chat at a terminal', () => {
  let api: FakeApi;
  let chat: CliRun;
  beforeEach(async () => {
    api = await startFakeApi();
  });
  afterEach(async () => {
    chat.child.kill('SIGKILL');
    await api.close();
  });

  async function open(...args: string[]): Promise<void> {
    chat = startCli(['chat', '--session', 's', ...args], { url: api.url, terminal: true });
    await chat.sees(/› /);
  }

  /** Types and waits for what follows on the screen. */
  async function typeAndSee(text: string, pattern: RegExp): Promise<string> {
    const from = chat.stdout().length;
    chat.type(text);
    return chat.sees(pattern, from);
  }

  test('streams the answer with its steps between, and asks for the next line', async () => {
    api.onMessage((turn, session) => {
      api.emit(session, turn, 'turn.started');
      api.emit(session, turn, 'message.delta', { text: 'Let me ', step: 1, attempt: 1 });
      api.emit(session, turn, 'message.delta', { text: 'look.', step: 1, attempt: 1 });
      api.emit(session, turn, 'message.completed', { message_id: 'a', text: 'Let me look.', step: 1 });
      api.emit(session, turn, 'tool.started', {
        call_id: 'c',
        tool: 'list_files',
        step: 1,
        summary: 'list_files: .',
      });
      api.emit(session, turn, 'tool.completed', {
        call_id: 'c',
        tool: 'list_files',
        ok: true,
        duration_ms: 4,
      });
      api.emit(session, turn, 'message.completed', { message_id: 'b', text: 'Two files.', step: 2 });
      api.emit(session, turn, 'turn.completed', { text: 'Two files.', steps: 2 });
    });
    await open();
    const screen = await typeAndSee(`what is here?${ENTER}`, /Two files\.[\s\S]*› /);
    assert.match(screen, /Let me look\.\r\n● list_files: \.\r\n✔ list_files: \. 4 ms\r\nTwo files\.\r\n/);
    chat.type(`/quit${ENTER}`);
    const { code, stdout } = await chat.ended;
    assert.equal(code, 0);
    assert.match(stdout, /go on with: npx tempoclaw chat --session s/);
  });

  test('what one types is shown once, also when its event comes before its receipt', async () => {
    api.onMessage((turn, session, text) => {
      api.emit(session, turn, 'turn.completed', { text: '', steps: 1 });
      if (text === 'first')
        api.emit(session, turn, 'message.received', { message_id: 'other', text: 'of another' });
    });
    let count = 0;
    api.on(async ({ method, path, body }) => {
      if (method !== 'POST' || !path.endsWith('/messages')) return undefined;
      count += 1;
      if (count === 1) return undefined;
      api.emit('s', 'turn_2', 'message.received', { message_id: 'msg_2', text: body['text'] });
      api.emit('s', 'turn_2', 'tool.started', { call_id: 'c', tool: 'wait', step: 1, summary: 'begun' });
      await chat.sees(/● begun/);
      return undefined;
    });
    await open();
    await typeAndSee(`first${ENTER}`, /message: of another/);
    const from = chat.stdout().length;
    chat.type(`typed once${ENTER}`);
    await chat.sees(/typed once[\s\S]*› /, from);
    chat.type(`/quit${ENTER}`);
    const { stdout } = await chat.ended;
    assert.equal(stdout.slice(from).match(/typed once/g)?.length, 1);
  });

  test('what was typed before the chat was there is cleared, since it comes again with its line', async () => {
    chat = startCli(['chat'], { url: api.url, terminal: true });
    chat.type('typed ahead');
    const screen = await chat.sees(/› .*typed ahead/);
    assert.match(screen, /\r\u001b\[J[\s\S]*› /);
  });

  test('an answer that is begun anew says that the first words do not count', async () => {
    api.onMessage((turn, session) => {
      api.emit(session, turn, 'message.delta', { text: 'Wrong sta', step: 1, attempt: 1 });
      api.emit(session, turn, 'message.reset', { step: 1, attempt: 2 });
      api.emit(session, turn, 'message.delta', { text: 'Right.', step: 1, attempt: 2 });
      api.emit(session, turn, 'message.completed', { message_id: 'a', text: 'Right.', step: 1 });
      api.emit(session, turn, 'turn.completed', { text: 'Right.', steps: 1 });
    });
    await open();
    const screen = await typeAndSee(`go${ENTER}`, /Right\.[\s\S]*› /);
    assert.match(screen, /Wrong sta\r\n↻ [^\r]*\r\nRight\.\r\n/);
  });

  test('AP-3 asks for an approval in place, and a rejection carries its reason', async () => {
    api.onMessage((turn, session) => {
      api.emit(session, turn, 'turn.started');
      api.setApproval('apr_1', { turn_id: turn });
      api.emit(session, turn, 'approval.requested', {
        approval_id: 'apr_1',
        tool: 'exec',
        summary: 'exec: rm -r build',
      });
    });
    api.on((request) => {
      if (!request.path.endsWith('/decision')) return undefined;
      setImmediate(() => {
        api.emit('s', 'turn_1', 'approval.decided', {
          approval_id: 'apr_1',
          status: 'denied',
          by: 'key:test',
          note: 'no',
        });
        api.emit('s', 'turn_1', 'turn.completed', { text: '', steps: 1 });
      });
      return undefined;
    });
    await open();
    const requested = await typeAndSee(`clean${ENTER}`, /Run it\?/);
    assert.match(requested, /exec: rm -r build/);
    assert.match(requested, /"command": "rm -r build"/);
    assert.match(requested, /always: \/usr\/bin\/rm -r build \(\/usr\/bin\/rm is the file \/usr\/lib\/rm\)/);
    await typeAndSee(`reject${ENTER}`, /Why not\?/);
    await typeAndSee(`not on a Friday${ENTER}`, /approval denied by key:test[\s\S]*› /);
    const decision = api.requests.find((request) => request.path.endsWith('/decision'));
    assert.deepEqual(decision?.body, { decision: 'reject', reason: 'not on a Friday', digest: 'd' });
  });

  /** Requests approval with each message, and ends the turn with the decision. */
  function askingApi(): void {
    api.onMessage((turn, session) => {
      api.emit(session, turn, 'turn.started');
      api.setApproval('apr_1', { turn_id: turn });
      api.emit(session, turn, 'approval.requested', {
        approval_id: 'apr_1',
        tool: 'exec',
        summary: 'exec: rm -r build',
      });
    });
    api.on((request) => {
      if (request.path.endsWith('/decision'))
        setImmediate(() => api.emit('s', 'turn_1', 'turn.completed', { text: '', steps: 1 }));
      return undefined;
    });
  }

  const decisions = (): unknown[] =>
    api.requests.filter((request) => request.path.endsWith('/decision')).map(({ body }) => body['decision']);

  for (const word of ['n', 'no', 'N', 'reject'])
    test(`“${word}” and Enter at an approval reject it`, async () => {
      askingApi();
      await open();
      await typeAndSee(`clean${ENTER}`, /Run it\?/);
      await typeAndSee(`${word}${ENTER}`, /Why not\?/);
      await typeAndSee(ENTER, /› /);
      assert.deepEqual(decisions(), ['reject']);
    });

  test('neither Enter alone, nor words that are no answer, nor a pasted answer decide an approval', async () => {
    askingApi();
    await open();
    await typeAndSee(`clean${ENTER}`, /Run it\?/);
    await typeAndSee(ENTER, /Type one of/);
    await typeAndSee(`\u0015not now${ENTER}`, /Type one of/);
    await typeAndSee('\u0015', /Run it\?/);
    const from = chat.stdout().length;
    chat.type('\u001b[200~yes\ry\r\u001b[201~');
    await chat.sees(/yes y/, from);
    assert.deepEqual(decisions(), []);
    await typeAndSee(`\u0015y${ENTER}`, /› /);
    assert.deepEqual(decisions(), ['approve']);
  });

  test('what was typed before an approval was shown does not decide it, and the line comes back', async () => {
    askingApi();
    await open();
    chat.type(`clean${ENTER}`);
    await api.came('/events');
    await typeAndSee('y', /y/);
    await chat.sees(/exec: rm -r build/);
    // The question is not there yet.
    chat.type(`y${ENTER}yes${ENTER}`);
    await chat.sees(/Run it\?/);
    assert.deepEqual(decisions(), []);
    await typeAndSee(`later${ENTER}`, /left open/);
    assert.deepEqual(decisions(), []);
    assert.equal(api.requests.filter((request) => request.path.endsWith('/messages')).length, 1);
  });

  for (const [how, begin, end] of [
    ['with marks of the terminal', '\u001b[200~', '\u001b[201~'],
    ['without', '', ''],
  ] as const)
    test(`a pasted text of several lines is one message, ${how}`, async () => {
      api.onMessage((turn, session) => api.emit(session, turn, 'turn.completed', { text: '', steps: 1 }));
      await open();
      chat.type(`${begin}one\rtwo\r\rthree${end}`);
      await chat.sees(/three/);
      assert.equal(api.requests.filter((request) => request.path.endsWith('/messages')).length, 0);
      chat.type(ENTER);
      const { body } = await api.came('/messages');
      assert.equal(body['text'], 'one\ntwo\n\nthree');
    });

  test('AP-2 a question that somebody else answers meanwhile goes away, and typing works on', async () => {
    api.onMessage((turn, session, text) => {
      api.emit(session, turn, 'turn.started');
      if (text === 'next') {
        api.emit(session, turn, 'turn.completed', { text: 'x', steps: 1 });
        return;
      }
      api.setApproval('apr_1', { turn_id: turn });
      api.emit(session, turn, 'approval.requested', {
        approval_id: 'apr_1',
        tool: 'exec',
        summary: 'exec: x',
      });
    });
    await open();
    await typeAndSee(`clean${ENTER}`, /Run it\?/);
    const from = chat.stdout().length;
    api.emit('s', 'turn_1', 'approval.decided', {
      approval_id: 'apr_1',
      status: 'approved',
      by: 'key:other',
    });
    api.emit('s', 'turn_1', 'turn.completed', { text: '', steps: 1 });
    await chat.sees(/approved by key:other[\s\S]*› /, from);
    await typeAndSee(`next${ENTER}`, /next[\s\S]*› /);
    assert.equal(api.requests.filter((request) => request.path.endsWith('/decision')).length, 0);
    assert.equal(api.requests.filter((request) => request.path.endsWith('/messages')).length, 2);
  });

  test('Ctrl-C stops the turn that runs at level now; twice leaves with 130', async () => {
    api.onMessage((turn, session) => {
      api.emit(session, turn, 'turn.started');
      api.emit(session, turn, 'tool.started', { call_id: 'c', tool: 'wait', step: 1, summary: 'wait: long' });
    });
    await open();
    await typeAndSee(`wait${ENTER}`, /● wait: long/);
    await typeAndSee(CTRL_C, /stopping the turn/);
    const stop = await api.came('/stop');
    assert.deepEqual(stop.body, { level: 'now', turn_id: 'turn_1' });
    chat.type(CTRL_C);
    assert.equal((await chat.ended).code, 130);
  });

  test('/steer speaks to the running turn and /stop stops it', async () => {
    api.onMessage((turn, session) => {
      api.emit(session, turn, 'turn.started');
      api.emit(session, turn, 'tool.started', { call_id: 'c', tool: 'wait', step: 1, summary: 'wait: long' });
    });
    api.on((request) => {
      if (request.path.endsWith('/stop'))
        setImmediate(() => api.emit('s', 'turn_1', 'turn.stopped', { by: 'key:test' }));
      return undefined;
    });
    await open();
    await typeAndSee(`wait${ENTER}`, /● wait: long/);
    await typeAndSee(`/steer be quick${ENTER}`, /reads it at its next step/);
    await typeAndSee(`/stop${ENTER}`, /stopped by key:test[\s\S]*› /);
    const steer = await api.came('/steer');
    assert.deepEqual(steer.body, { text: 'be quick', turn_id: 'turn_1' });
  });

  test('lines of the feed appear above a line that is being typed, which stays whole', async () => {
    api.onMessage((turn, session, text) => {
      if (text === 'go') api.emit(session, turn, 'turn.started');
    });
    await open();
    chat.type(`go${ENTER}`);
    await api.came('/events');
    await typeAndSee('half a li', /half a li/);
    const from = chat.stdout().length;
    api.emit('s', 'turn_1', 'tool.started', { call_id: 'c', tool: 'wait', step: 1, summary: 'wait: one' });
    const screen = await chat.sees(/wait: one[\s\S]*half a li/, from);
    assert.ok(screen.startsWith('\r\u001b[J'), 'the typed line is cleared first');
    chat.type(`ne${ENTER}`);
    const second = await api.came('/messages', 2);
    assert.equal(second.body['text'], 'half a line');
  });

  test('goes on by itself when the API restarts', async () => {
    api.onMessage((turn, session) => {
      api.emit(session, turn, 'turn.started');
      api.emit(session, turn, 'tool.started', { call_id: 'c', tool: 'exec', step: 1, summary: 'exec: one' });
    });
    await open();
    await typeAndSee(`go${ENTER}`, /● exec: one/);
    const from = chat.stdout().length;
    await api.cut();
    await chat.sees(/Trying again/, from);
    api.emit('s', 'turn_1', 'message.completed', { message_id: 'm', text: 'back', step: 2 });
    api.emit('s', 'turn_1', 'turn.completed', { text: 'back', steps: 2 });
    await api.restart();
    await chat.sees(/connected again[\s\S]*back[\s\S]*› /, from);
  });
});

describe('IN-6 tempoclaw chat without a terminal', () => {
  test('takes each line of a pipe as a message, one after the other, and asks nothing', async () => {
    const api = await startFakeApi();
    api.onMessage((turn, session, text) => {
      api.emit(session, turn, 'message.completed', { message_id: 'm', text: `you said ${text}`, step: 1 });
      api.emit(session, turn, text === 'bad' ? 'turn.failed' : 'turn.completed', { text, steps: 1 });
    });
    const { code, stdout } = await runCli(['chat'], { url: api.url, input: 'one\n\nbad\n' });
    await api.close();
    assert.match(stdout, /^you said one\nyou said bad\n/);
    assert.equal(code, 1);
  });
});

describe('IN-6 what a chat line means', () => {
  test('slashes begin commands, but paths and double slashes are messages', () => {
    assert.deepEqual(readChatLine('  '), { kind: 'nothing' });
    assert.deepEqual(readChatLine('/stop'), { kind: 'stop' });
    assert.deepEqual(readChatLine('/steer  be\nquick '), { kind: 'steer', text: 'be\nquick' });
    assert.deepEqual(readChatLine('/nope x'), { kind: 'unknown', command: '/nope' });
    assert.deepEqual(readChatLine('/etc/hosts please'), { kind: 'message', text: '/etc/hosts please' });
    assert.deepEqual(readChatLine('//stop'), { kind: 'message', text: '/stop' });
  });
});
