/** IN-2, IN-9: one stream names what changes in a tenant, so that pages read again only that. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openSse, type SseReader } from '#test/support/sse.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

interface Change {
  readonly sessions: readonly string[] | null;
  readonly teams: readonly string[] | null;
}

describe('IN-2 the changes of a tenant as a stream', () => {
  let stack: Stack;
  const readers: SseReader[] = [];
  before(async () => {
    stack = await startStack();
  });
  after(async () => {
    for (const reader of readers) reader.close();
    await stack.stop();
  });

  async function follow(key: string): Promise<SseReader> {
    const reader = await openSse(`${stack.url}/v1/changes`, { authorization: `Bearer ${key}` });
    assert.equal(reader.status, 200);
    readers.push(reader);
    return reader;
  }
  const isOf = (list: keyof Change, name: string) => (frame: { readonly data: unknown }) =>
    (frame.data as Change)[list]?.includes(name) === true;

  it('names a session whose turn runs, and a team whose tasks change', async () => {
    const reader = await follow(stack.key);
    const { turn_id } = await stack.worker.say('named', 'Hello.');
    await reader.until(isOf('sessions', 'named'));
    await stack.worker.ended(turn_id);
    await stack.ask('POST', '/v1/teams', { body: { key: 'press', lead: 'main', members: [] } });
    await stack.ask('POST', '/v1/teams/press/tasks', { body: { subject: 'First' } });
    await reader.until(isOf('teams', 'press'));
    await stack.ask('POST', '/v1/teams/press/tasks/1/comment', { body: { text: 'Soon.' } });
    await reader.until(isOf('teams', 'press'));
  });

  it('R1 names nothing of another tenant, and to a user only the user’s sessions', async () => {
    const other = await stack.makeTenant();
    const foreign = await follow(other.key);
    const ann = await follow(await stack.makeKey(['read'], { user: 'ann' }));
    await stack.worker.ended((await stack.worker.say('others', 'Hello.')).turn_id);
    const body = { text: 'Hello.', user: 'ann' };
    const sent = await stack.ask('POST', '/v1/sessions/anns/messages', { body });
    assert.equal(sent.status, 202, JSON.stringify(sent.body));
    stack.deps.notifier.notify(other.tenant, 'theirs');
    const seen = async (reader: SseReader, name: string) =>
      (await reader.until(isOf('sessions', name))).map(({ data }) => (data as unknown as Change).sessions);
    assert.deepEqual(await seen(ann, 'anns'), [['anns']]);
    assert.deepEqual(await seen(foreign, 'theirs'), [['theirs']]);
  });

  it('thousands of changes between two frames are one frame that names none', async () => {
    const reader = await follow(stack.key);
    for (let n = 0; n < 3_000; n += 1) stack.deps.notifier.notify(stack.tenant, `burst-${n}`);
    const frames = await reader.until(({ data }) => (data as unknown as Change).sessions === null);
    assert.ok(frames.length < 20, `${frames.length} frames`);
  });
});
