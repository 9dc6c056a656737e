import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { preview } from '@tempoclaw/scrubber';
import { INBOX_LIMITS } from '#domain/turn/turn.ts';
import { heldDelegation } from '#test/support/assignments.ts';
import { type LiveWorker, startLiveWorker, workflowIdOf } from '#test/support/live-worker.ts';

describe('EX-4 characters that a row cannot hold do not stop a turn', () => {
  let worker: LiveWorker;
  before(async () => {
    worker = await startLiveWorker();
  });
  after(() => worker.close());

  test('a NUL and half a surrogate pair in arguments reach the tool as they are, and the turn goes on', async () => {
    const text =
      'write_file {"path":"odd.bin","content":"a\\u0000b\\ud800c"}\nthen\nread_file {"path":"odd.bin"}';
    const { turn_id } = await worker.say('odd', text);
    const turn = await worker.ended(turn_id);
    assert.equal(turn.status, 'completed');
    const [written] = await worker.calls(turn_id);
    assert.equal(written?.ok, true);
  });

  test('a message of many characters beyond 16 bits is taken as any other', async () => {
    for (const [session, text] of [
      ['emoji', '🦦'.repeat(5_000)],
      ['family', '👩‍👩‍👧‍👦 '.repeat(57)],
      ['flags', '🇩🇪'.repeat(200)],
    ] as const) {
      const shown = preview(text, { chars: INBOX_LIMITS.preview });
      const { turn_id } = await worker.say(session, text, { preview: shown });
      assert.equal((await worker.ended(turn_id)).status, 'completed');
    }
  });

  test('a tool name made of such characters is an unknown tool', async () => {
    const { turn_id } = await worker.say('odd-name', 'look\\u0000up {}', { id: 'm-odd-name' });
    assert.equal((await worker.ended(turn_id)).status, 'completed');
  });

  test('a stop whose sender has such a name, or a name of any other kind, stops', async () => {
    for (const [n, by] of ['a\0\ud800b', { name: 'ann' }, 'x'.repeat(100_000)].entries()) {
      const session = `odd-stop-${n}`;
      const { turn_id } = await worker.say(session, `hold {"note":"${session}"}`);
      await worker.probes.untilHeld(session);
      const handle = worker.client.workflow.getHandle(workflowIdOf(worker, session));
      await handle.signal('stop', { turn_id, level: 'now', by, reason: by });
      assert.equal((await worker.ended(turn_id)).status, 'stopped');
      await handle.result();
    }
  });

  test('an assignment ends, however the one is called who stops it', async () => {
    const id = await heldDelegation(worker, 'odd');
    const handle = worker.client.workflow.getHandle(`delegation/${id}`);
    await handle.signal('stop', { by: 'a\0b', reason: '\ud800', silent: 'yes' });
    assert.equal(((await handle.result()) as { status: string }).status, 'cancelled');
    worker.probes.release('odd-given');
  });

  test('words of another system with a NUL are refused before anything is taken', async () => {
    for (const odd of [{ user: 'a\0b' }, { chat_id: '\ud800' }, { allowed_tools: ['a\0'] }])
      await assert.rejects(worker.say('odd-words', 'hello', odd), /plain text|list of/);
    await assert.rejects(worker.say('odd-words', 'a\ud800b'), /surrogate/);
  });
});
