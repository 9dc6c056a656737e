/** A link to a canvas allows no more than the key that made it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openSse } from '#test/support/sse.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('TL canvas links', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
    await show('One');
  });
  after(() => stack?.stop());

  async function show(html: string): Promise<void> {
    const { turn_id } = await stack.worker.say('shown', `canvas ${JSON.stringify({ action: 'show', html })}`);
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
  }

  /** Makes a link, and the id of a key of its own that made it. */
  async function link(): Promise<{ url: string; id: string }> {
    const made = await stack.ask('POST', '/v1/api-keys', { body: { name: 'shows', scopes: ['run'] } });
    const { id, secret: key } = made.body;
    const { body } = await stack.ask('POST', '/v1/sessions/shown/canvas/links', { key, body: {} });
    return { url: body.url, id };
  }

  async function statuses(url: string): Promise<number[]> {
    const send = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"data":1}' };
    const answers = [await fetch(url), await fetch(`${url}/events`, send)];
    return answers.map(({ status }) => status);
  }

  it('a link ends with the revocation of its key, for those who look already too', async () => {
    const { url, id } = await link();
    assert.deepEqual(await statuses(url), [200, 202]);
    const reader = await openSse(`${url}/events`, {});
    await reader.until(({ event }) => event === 'canvas');
    assert.equal((await stack.ask('DELETE', `/v1/api-keys/${id}`)).status, 204);
    assert.deepEqual(await statuses(url), [404, 404]);
    assert.equal((await fetch(`${url}/events`)).status, 404);
    await show('Two');
    assert.deepEqual(await reader.until(() => false), []);
  });

  it('no link is made for a user who does not reach the session', async () => {
    const make = (user: string) => stack.ask('POST', '/v1/sessions/shown/canvas/links', { body: { user } });
    const { status, body } = await make('stranger');
    assert.equal(status, 422, JSON.stringify(body));
    assert.match(body.detail, /stranger/);
  });

  it('a link ends when its key expires', async () => {
    const { url, id } = await link();
    await stack.pool.query('update api_keys set expires_at = now() where id = $1', [id]);
    assert.deepEqual(await statuses(url), [404, 404]);
  });
});
