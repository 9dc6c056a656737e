/** sessions_send and agents_list on real servers: sent once, only to the caller's own sessions, with no more rights. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';

describe('TL sessions_send', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker({
      agents: [{ key: 'other', name: 'The other', model: ['rehearsal/echo', 'rehearsal/follow'] }],
    });
  });
  after(() => live.close());

  const ask = async (session: string, script: string, more: Record<string, unknown> = {}) => {
    const { turn_id } = await live.say(session, `${script}\nthen\nOk.`, { user: 'ann', ...more });
    await live.ended(turn_id);
    return (await live.calls(turn_id))[0]?.result ?? '';
  };
  const send = (args: Record<string, unknown>): string => `sessions_send ${JSON.stringify(args)}`;
  /** A user's session whose first message is its title. */
  const make = async (session: string, title: string, more: Record<string, unknown> = {}): Promise<void> => {
    await live.ended((await live.say(session, title, { user: 'ann', ...more })).turn_id);
    await live.pool.query('update sessions set user_id = $3 where tenant_id = $1 and key = $2', [
      live.tenant,
      session,
      more['user'] ?? 'ann',
    ]);
  };

  it('says it there by key or label, and the turn there has no more tools than the caller', async () => {
    await make('there', 'Holiday plans');
    const script = 'nudge {"note":"sent"}\nthen\nAnswered.';
    const result = await ask('here', send({ label: 'holiday', message: script }), {
      allowed_tools: ['sessions_send'],
    });
    assert.match(result, /^Sent to there; it is answered there now \(turn turn_sent-[0-9a-f]{24}\)\.$/);
    const turn = /turn_sent-\w+/.exec(result)?.[0] ?? '';
    assert.equal((await live.ended(turn)).text, 'Answered.');
    assert.equal((await live.calls(turn))[0]?.code, 'PermissionDenied');
    assert.match(await ask('here', send({ session_key: 'there', message: 'Hello.' })), /^Sent to there;/);
  });

  it('refuses its own session, another agent’s, another user’s, and what is not clear', async () => {
    await make('theirs', 'Secret plans', { user: 'bob' });
    await make('another', 'Other plans', { agent: 'other' });
    await make('twin', 'Holiday again');
    await make('here', 'Here');
    for (const session_key of ['theirs', 'another', 'none', '../x'])
      assert.match(
        await ask('here', send({ session_key, message: 'x' })),
        /^NotFound: there is no session/,
        session_key,
      );
    assert.match(
      await ask('here', send({ session_key: 'here', message: 'x' })),
      /^InvalidArgs: that is this session/,
    );
    assert.match(
      await ask('here', send({ label: 'holiday', message: 'x' })),
      /^InvalidArgs: "holiday" fits several sessions: twin, there/,
    );
    // An empty label is a part of each title.
    for (const more of [{}, { label: '' }, { session_key: '', label: '' }])
      assert.match(
        await ask('here', send({ message: 'x', ...more })),
        /^InvalidArgs: session_key or label is required/,
      );
    assert.match(await ask('here', send({ message: 'x', session_key: '', label: 'again' })), /^Sent to twin/);
    assert.equal((await live.turns('theirs')).length, 1);
  });

  it('agents_list names the agents of the tenant and the caller among them', async () => {
    assert.equal(
      await ask('list', 'agents_list {}'),
      'main (you) model=rehearsal/follow\nother model=rehearsal/echo "The other"',
    );
  });
});
