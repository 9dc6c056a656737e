/** `tempoclaw acp` as an editor starts it, spoken to by the client side of the protocol's SDK. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { methods, type SessionUpdate } from '@agentclientprotocol/sdk';
import { type Stack, startStack } from '#test/support/stack.ts';
import { choose, type Editor, FOLDER, startEditor } from './editor.ts';

const { agent: ask } = methods;

describe('IN-11 agents in code editors', { concurrency: 4 }, () => {
  let stack: Stack;
  const editors: Editor[] = [];
  before(async () => {
    stack = await startStack({
      agents: [
        { key: 'slow', model: 'rehearsal/stream' },
        { key: 'flaky', model: 'rehearsal/flaky' },
      ],
    });
  });
  after(async () => {
    for (const editor of editors) await editor.stop();
    await stack.stop();
  });

  async function open({ key = stack.key, args = [] as string[], fs = true } = {}): Promise<Editor> {
    const editor = await startEditor({ url: stack.url, key, args, fs });
    editors.push(editor);
    return editor;
  }

  /** As another person does, elsewhere. */
  const decideIn = async (session: string): Promise<void> => {
    const { body } = await stack.ask('GET', `/v1/approvals?session_key=${session}&status=pending`);
    const path = `/v1/approvals/${body.data[0].id}/decision`;
    assert.equal((await stack.ask('POST', path, { body: { decision: 'approve' } })).status, 200);
  };
  /** That of the last call, as the editor shows it in the end. */
  const contentOf = (updates: readonly SessionUpdate[]) =>
    updates
      .flatMap((one) => (one.sessionUpdate === 'tool_call_update' && one.content ? [one.content] : []))
      .at(-1);
  const words = ({ content }: { content: { type: string; text?: string } }): string => content.text ?? '';
  const did = (note: string): boolean => stack.worker.probes.effects.some((one) => one.note === note);

  it('answer prompts in pieces, with calls of tools as they go on', async () => {
    const editor = await open();
    const session = await editor.begin();
    assert.equal(await editor.say(session, 'peek {"note":"acp"}\nthen\nSeen.'), 'end_turn');
    assert.equal(editor.text(), 'Seen.');
    assert.deepEqual(
      editor.calls().map(({ status }) => status),
      ['in_progress', 'completed'],
    );
    const file = { uri: `file://${FOLDER}/a.ts`, text: 'const a = 1;' };
    const prompt = [
      { type: 'text', text: 'Look at this:' } as const,
      { type: 'resource', resource: file } as const,
      { type: 'resource_link', name: 'b.ts', uri: `file://${FOLDER}/b.ts` } as const,
    ];
    await editor.agent.request(ask.session.prompt, { sessionId: session, prompt });
    for (const part of ['Look at this:', 'const a = 1;', `[b.ts](file://${FOLDER}/b.ts)`])
      assert.ok(editor.text().includes(part), editor.text());
  });

  it('ask for permission: once, always, or not at all', async () => {
    const editor = await open();
    const session = await editor.begin();
    await editor.say(session, 'poke {"note":"once"}\nthen\nDone.');
    assert.equal(editor.text(), 'Done.');
    assert.ok(did('once'));
    assert.deepEqual(editor.requests[0]?.toolCall.rawInput, { note: 'once' });
    editor.answer = choose('reject_once');
    await editor.say(session, 'poke {"note":"never"}\nthen\nGone on.');
    assert.equal(editor.text(), 'Gone on.');
    assert.ok(!did('never'));
    assert.equal(editor.calls().at(-1)?.status, 'failed');
    editor.answer = choose('allow_always');
    await editor.say(session, 'poke {"note":"always"}');
    await editor.say(session, 'poke {"note":"always"}\nthen\nUnasked.');
    assert.equal(editor.text(), 'Unasked.');
    assert.equal(editor.requests.length, 3);
  });

  it('end a question that is decided elsewhere, and go on', async () => {
    const editor = await open();
    const session = await editor.begin();
    const ended = Promise.withResolvers<void>();
    editor.answer = (_, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          ended.resolve();
          resolve({ outcome: { outcome: 'cancelled' } });
        });
        void decideIn(session);
      });
    assert.equal(await editor.say(session, 'poke {"note":"elsewhere"}\nthen\nDone there.'), 'end_turn');
    await ended.promise;
    assert.equal(editor.text(), 'Done there.');
  });

  it('say that a key may not decide, and go on when somebody else does', async () => {
    const editor = await open({ key: await stack.makeKey(['read', 'run']) });
    const session = await editor.begin();
    const answer = editor.say(session, 'poke {"note":"weak"}\nthen\nBy another.');
    await stack.worker.until('the refusal', async () =>
      JSON.stringify(editor.updates).includes('scope approve') ? true : undefined,
    );
    assert.ok(!did('weak'));
    await decideIn(session);
    assert.equal(await answer, 'end_turn');
    assert.equal(editor.text(), 'By another.');
  });

  it('answer a turn that fails with its error', async () => {
    const editor = await open({ args: ['--agent', 'flaky'] });
    await assert.rejects(editor.say(await editor.begin(), 'bad key'), /key is not accepted/);
  });

  it('stop the turn when the person cancels', async () => {
    const editor = await open();
    const session = await editor.begin();
    const answer = editor.say(session, 'wait {"timeMs":60000}');
    await stack.worker.until('the call to start', async () => (editor.calls().length > 0 ? true : undefined));
    await editor.agent.notify(ask.session.cancel, { sessionId: session });
    assert.equal(await answer, 'cancelled');
  });

  it('read and write files of the editor, in its folder only', async () => {
    const editor = await open();
    const session = await editor.begin();
    editor.files.set(`${FOLDER}/a.ts`, 'const unsaved = 1;');
    await editor.say(session, `read_text_file {"path":"${FOLDER}/a.ts"}`);
    assert.match(editor.text(), /const unsaved = 1;/);
    await editor.say(session, `write_text_file {"path":"${FOLDER}/b.ts","content":"const b = 2;"}`);
    assert.equal(editor.files.get(`${FOLDER}/b.ts`), 'const b = 2;');
    const change = { type: 'diff', path: `${FOLDER}/b.ts`, newText: 'const b = 2;' };
    assert.deepEqual(contentOf(editor.updates), [{ ...change, oldText: null }]);
    await editor.say(session, `write_text_file {"path":"${FOLDER}/b.ts","content":"const b = 3;"}`);
    assert.deepEqual(contentOf(editor.updates), [
      { ...change, oldText: 'const b = 2;', newText: 'const b = 3;' },
    ]);
    editor.files.set('/home/ann/secret', 'hidden');
    await editor.say(session, `read_text_file {"path":"${FOLDER}/../secret"}`);
    assert.match(editor.text(), /path must be absolute and in/);
    assert.ok(!editor.text().includes('hidden'));
    assert.equal(editor.requests.length, 0);
  });

  it('list sessions of the folder, and open them again with what was said and what waits', async () => {
    const first = await open();
    const session = await first.begin();
    await first.say(session, 'Remember this.');
    const turn = await stack.ask('POST', `/v1/sessions/${session}/messages`, {
      body: { text: 'poke {"note":"again"}\nthen\nPoked again.' },
    });
    assert.equal(turn.status, 202);
    const second = await open();
    const { sessions } = await second.agent.request(ask.session.list, { cwd: FOLDER });
    assert.ok(sessions.some(({ sessionId, cwd }) => sessionId === session && cwd === FOLDER));
    const { sessions: none } = await second.agent.request(ask.session.list, { cwd: '/elsewhere' });
    assert.deepEqual(none, []);
    await second.agent.request(ask.session.load, { sessionId: session, cwd: FOLDER, mcpServers: [] });
    const replayed = second.updates.flatMap((one) =>
      one.sessionUpdate === 'user_message_chunk' ? [words(one as never)] : [],
    );
    assert.ok(replayed.includes('Remember this.'));
    await stack.worker.ended(turn.body.turn_id);
    assert.ok(did('again'));
    await first.agent.request(ask.session.close, { sessionId: session });
    await assert.rejects(first.say(session, 'Closed?'), /not found/i);
    await first.agent.request(ask.session.resume, { sessionId: session, cwd: FOLDER });
    assert.equal(await first.say(session, 'Open again.'), 'end_turn');
    assert.equal(first.text(), 'Open again.');
  });

  it('go on with a session that was begun elsewhere, and show its turns of others', async () => {
    const send = (text: string) =>
      stack.ask('POST', '/v1/sessions/of-the-console/messages', { body: { text } });
    const { body } = await send('Begun elsewhere.');
    await stack.worker.ended(body.turn_id);
    const editor = await open();
    const sessionId = 'of-the-console';
    await editor.agent.request(ask.session.load, { sessionId, cwd: FOLDER, mcpServers: [] });
    assert.equal(editor.text(), 'Begun elsewhere.');
    assert.equal(await editor.say(sessionId, 'Gone on here.'), 'end_turn');
    assert.equal(editor.text(), 'Gone on here.');
    editor.updates.length = 0;
    await send('And there.');
    await stack.worker.until('the turn of another', async () =>
      editor.text() === 'And there.' ? true : undefined,
    );
  });

  it('answer as the agent of the option, or of the mode of a new session', async () => {
    const editor = await open({ args: ['--agent', 'slow'], fs: false });
    const { sessionId, modes } = await editor.agent.request(ask.session.new, { cwd: FOLDER, mcpServers: [] });
    assert.equal(modes?.currentModeId, 'slow');
    assert.ok(modes.availableModes.some(({ id }) => id === 'main'));
    await editor.agent.request(ask.session.setMode, { sessionId, modeId: 'main' });
    await editor.say(sessionId, 'peek {"note":"mode"}\nthen\nOf main.');
    assert.equal(editor.text(), 'Of main.');
    await assert.rejects(
      editor.agent.request(ask.session.setMode, { sessionId, modeId: 'slow' }),
      /belongs to the agent main/,
    );
    const other = await editor.begin();
    await assert.rejects(
      editor.agent.request(ask.session.setMode, { sessionId: other, modeId: 'nobody' }),
      /no agent nobody/,
    );
    await editor.say(other, 'Slowly, piece by piece. ms=30');
    assert.equal(editor.text(), 'Slowly, piece by piece. ms=30');
    assert.ok(editor.updates.length > 1);
  });

  it('say what is wrong with the key, and show nobody the sessions of others', async () => {
    const stranger = await open({ key: 'tc_nobody' });
    await assert.rejects(stranger.agent.request(ask.authenticate, { methodId: 'tempoclaw-key' }), /key is/i);
    await assert.rejects(stranger.begin(), /key is/i);
    const [ann, bob] = await Promise.all([
      stack.makeKey(['read', 'run'], { user: 'ann' }),
      stack.makeKey(['read', 'run'], { user: 'bob' }),
    ]);
    const hers = await open({ key: ann });
    await hers.agent.request(ask.authenticate, { methodId: 'tempoclaw-key' });
    const session = await hers.begin();
    await hers.say(session, 'Mine.');
    const his = await open({ key: bob });
    await assert.rejects(
      his.agent.request(ask.session.load, { sessionId: session, cwd: FOLDER, mcpServers: [] }),
      /not found/i,
    );
    const { sessions } = await his.agent.request(ask.session.list, {});
    assert.deepEqual(sessions, []);
  });
});
