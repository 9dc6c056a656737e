/** IN-10, IN-4: in a group chat each message runs with the rights of the person who wrote it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startTelegramChat } from '#test/support/telegram-chat.ts';
import { textUpdate } from '#test/support/telegram-server.ts';

it('IN-10 people of a group chat have the tools of their own users', async (t) => {
  const rules = [{ tool: 'nudge', user: 'bob', decision: 'deny' }] as const;
  const chat = await startTelegramChat(t, { groups: 'all' }, [
    { key: 'main', type: 'open', model: 'rehearsal/follow', tools: { rules } },
  ]);
  await chat.pair('42', 'ann');
  await chat.pair('43', 'bob');
  const group = { group: true, chat: -1001 } as const;
  for (const from of [42, 43])
    assert.equal(
      (await chat.hears(textUpdate(`nudge {"note":"of ${from}"}`, { ...group, from }))).status,
      200,
    );
  const turns = await chat.worker.until('both turns to end', async () => {
    const { body } = await chat.ask('GET', '/v1/sessions/tg:-1001/turns');
    const ended = body.data?.filter(({ ended_at }: { ended_at: string | null }) => ended_at !== null) ?? [];
    return ended.length === 2 ? (ended as readonly { id: string; user: string }[]) : undefined;
  });
  const verdicts: Record<string, string | undefined> = {};
  for (const { id, user } of turns) verdicts[user] = (await chat.worker.calls(id))[0]?.verdict;
  assert.deepEqual(verdicts, { ann: 'allow', bob: 'deny' });
  assert.deepEqual(
    chat.worker.probes.effects.map(({ note }) => note),
    ['of 42'],
  );
});
