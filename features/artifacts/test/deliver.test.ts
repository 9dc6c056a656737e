/** TL a file that an agent writes, and gives to people. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

const SECRET = 'sk-live-0123456789abcdef0123';

describe('TL write_file with deliver', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack?.stop());

  let turns = 0;
  async function write(args: object): Promise<string> {
    turns += 1;
    const { turn_id } = await stack.worker.say(`deliver-${turns}`, `write_file ${JSON.stringify(args)}`, {
      user: 'ann',
    });
    await stack.worker.ended(turn_id);
    const [call] = await stack.worker.calls(turn_id);
    assert.equal(call?.ok, true, call?.result ?? '');
    return call?.result ?? '';
  }
  const read = async (id: string, key?: string) => {
    const answer = await fetch(`${stack.url}/v1/artifacts/${id}`, {
      headers: { authorization: `Bearer ${key ?? stack.key}` },
    });
    return { status: answer.status, text: await answer.text() };
  };

  it('keeps the file for its user, and says how an answer sends it', async () => {
    const text = await write({ path: 'out/report.md', content: '# Otters', deliver: true });
    const [, id = ''] = /link it in your answer: \[report\.md\]\(artifact:(art_\w+)\)$/.exec(text) ?? [];
    assert.match(
      text,
      /^File created: out\/report\.md \(8 bytes\)\n\[attached: artifact:art_\w+ report\.md, text\/\w+/,
    );
    assert.deepEqual(await read(id), { status: 200, text: '# Otters' });
    const other = await stack.makeKey(['read', 'run'], { user: 'bob' });
    assert.equal((await read(id, other)).status, 404);
  });

  it('gives the whole file when its end was added', async () => {
    await write({ path: 'log.txt', content: 'one\n' });
    const text = await write({ path: 'log.txt', content: 'two\n', append: true, deliver: true });
    assert.match(text, /^Appended to file: log\.txt \(4 bytes\)\n/);
    const [id = ''] = /art_\w+/.exec(text) ?? [];
    assert.equal((await read(id)).text, 'one\ntwo\n');
  });

  it('keeps none without deliver, and says why none was kept', async () => {
    assert.doesNotMatch(await write({ path: 'b.txt', content: 'x' }), /artifact/);
    assert.match(
      await write({ path: 'c.txt', content: '', deliver: true }),
      /\nIt is not delivered: .*empty/,
    );
  });

  it('S6 gives no file with a secret', async () => {
    await stack.ask('PUT', '/v1/secrets/PAY', { body: { value: SECRET } });
    await write({ path: 'pay.txt', content: 'x' });
    const exec = `exec ${JSON.stringify({ command: 'for part in sk-live -01234567 89abcdef 0123; do printf %s $part >> pay.txt; done' })}`;
    const { turn_id } = await stack.worker.say('deliver-secret', exec, { user: 'ann' });
    await stack.worker.ended(turn_id);
    const text = await write({ path: 'pay.txt', content: 'y', append: true, deliver: true });
    assert.match(text, /\nIt is not delivered: pay\.txt holds what no chat is told: a secret$/);
  });
});
