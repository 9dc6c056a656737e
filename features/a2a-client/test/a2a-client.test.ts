/** Agents of other systems as tools: one made of the SDK's server parts, and one of another installation. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';
import { type ExampleAgent, startExampleAgent } from './a2a-example.ts';

const KEY = 'example-key-0123456789';

describe('IN-11 agents of other systems as tools', { timeout: 100_000 }, () => {
  let example: ExampleAgent;
  let theirs: Stack;
  let ours: Stack;
  before(async () => {
    example = await startExampleAgent(KEY);
    theirs = await startStack();
    const allowPrivate = [example.place, new URL(theirs.url).host];
    ours = await startStack({
      settings: `egress: { allowPrivate: ${JSON.stringify(allowPrivate)} }`,
      egress: { allowPrivate },
    } as object);
    await put('/v1/secrets/example', { value: KEY });
    await put('/v1/secrets/theirs', { value: theirs.key });
    await put('/v1/remote-agents/example', {
      url: example.url,
      description: 'An example',
      credential: 'Bearer secret://example',
    });
    await put('/v1/remote-agents/theirs', {
      url: `${theirs.url}/v1/a2a/main`,
      description: 'Of another installation',
      credential: 'Bearer secret://theirs',
    });
  });
  after(async () => {
    await ours?.stop();
    await theirs?.stop();
    await example?.stop();
  });

  async function put(path: string, body: object): Promise<void> {
    const { status, body: answer } = await ours.ask('PUT', path, { body });
    assert.ok(status < 300, `${path}: ${JSON.stringify(answer)}`);
  }
  async function call(session: string, tool: string, args: object) {
    const text = `${tool} ${JSON.stringify(args)}`;
    const { body } = await ours.ask('POST', `/v1/sessions/${session}/messages`, { body: { text } });
    await ours.worker.ended(body.turn_id);
    const [made] = await ours.worker.calls(body.turn_id);
    return made ?? assert.fail('no call');
  }

  it('do what they are asked, and their answer is marked as from outside', async () => {
    const { ok, result } = await call('do', 'a2a_example', { message: 'Sum it up.' });
    assert.equal(ok, true, String(result));
    assert.match(String(result), /EXTERNAL_UNTRUSTED_CONTENT[^]*Done: Sum it up\./);
    assert.match(String((await call('do', 'a2a_example', { message: 'chat' })).result), /Just words\./);
    const { body: log } = await ours.ask('GET', '/v1/egress');
    assert.doesNotMatch(JSON.stringify(log), new RegExp(KEY));
  });

  it('bring files, which become artifacts of the user; what is not stored is named', async () => {
    const { result } = await call('files', 'a2a_example', { message: 'files, please' });
    const text = String(result);
    assert.match(text, /EXTERNAL_UNTRUSTED_CONTENT[^]*\[attached: artifact:art_[^]*<<<END_/);
    const kept = [...text.matchAll(/\[attached: artifact:(\S+) (\S+), (\S+), (\d+) bytes\]/g)];
    assert.deepEqual(
      kept.map(([, , name, type, bytes]) => [name, type, Number(bytes)]),
      [
        ['table.csv', 'text/csv', 7],
        ['wrong.png', 'text/plain', 10],
        ['large.txt', 'text/plain', 9_000_000],
        ['0.txt', 'text/plain', 1],
        ['1.txt', 'text/plain', 1],
        ['2.txt', 'text/plain', 1],
        ['3.txt', 'text/plain', 1],
      ],
    );
    const { body } = await ours.ask('GET', `/v1/artifacts/${kept[0]?.[1]}`);
    assert.equal(body, 'a,b\n1,2');
    for (const words of [
      /\[file missing\.txt text\/plain: \S+\/missing\] \(not stored: it answered 404\)/,
      /\[file x\.pdf application\/pdf: https:\/\/elsewhere\.invalid\/x\.pdf\]\n/,
      /\[file empty\.txt text\/plain, 0 bytes\] \(not stored: The file is empty\)/,
      /\[file 4\.txt text\/plain, 1 bytes\] \(not stored: more than 10 files\)/,
    ])
      assert.match(text, words);
  });

  it('are asked once, though the answer to the message is lost', async () => {
    example.cutNext('SendMessage');
    const { ok, result } = await call('lost', 'a2a_example', { message: 'Only once.' });
    assert.equal(ok, true, String(result));
    assert.match(String(result), /Done: Only once\./);
    assert.equal(example.heard.filter((text) => text === 'Only once.').length, 1);
  });

  it('are not asked again when nobody can say whether they were', async () => {
    example.cutNext('SendMessage');
    example.lose('ListTasks');
    const { ok, code } = await call('unknown', 'a2a_example', { message: 'Perhaps.' });
    example.lose('');
    assert.deepEqual([ok, code], [false, 'OutcomeUnknown']);
    assert.equal(example.heard.filter((text) => text === 'Perhaps.').length, 1);
  });

  it('ask back, and only the conversation that gave the work answers', async () => {
    const asks = await call('asks', 'a2a_example', { message: 'ask me' });
    const [, task] = /task_id (\S+)/.exec(String(asks.result)) ?? assert.fail(String(asks.result));
    assert.match(String(asks.result), /Which colour\?/);
    const other = await call('other', 'a2a_example', { message: 'red', task_id: task });
    assert.deepEqual([other.ok, other.code], [false, 'NotFound']);
    const done = await call('asks', 'a2a_example', { message: 'blue', task_id: task });
    assert.match(String(done.result), /You like blue\./);
  });

  it('are told to stop when they take too long', async () => {
    const late = await call('late', 'a2a_example', { message: 'slow one', timeout: 1 });
    assert.deepEqual([late.ok, late.code], [false, 'Timeout']);
    assert.equal(example.cancelled.length, 1);
  });

  it('work with their own tools in another installation', async () => {
    const { ok, result } = await call('far', 'a2a_theirs', {
      message: 'peek {"note":"far"}\nthen\nSeen afar.',
    });
    assert.equal(ok, true, String(result));
    assert.match(String(result), /Seen afar\./);
    const asks = await call('far', 'a2a_theirs', { message: 'poke {"note":"far"}' });
    assert.match(String(asks.result), /waits for an answer[^]*an approval of/);
  });

  it('are told to stop when the turn is stopped', async () => {
    const text = 'a2a_example {"message":"slow two"}';
    await ours.ask('POST', '/v1/sessions/stop/messages', { body: { text } });
    await ours.worker.until('the task to begin', async () =>
      example.heard.includes('slow two') ? true : undefined,
    );
    const before = example.cancelled.length;
    const stopped = await ours.ask('POST', '/v1/sessions/stop/stop', { body: { level: 'now' } });
    assert.ok(stopped.status < 300, JSON.stringify(stopped.body));
    await ours.worker.until('the task to be cancelled', async () =>
      example.cancelled.length > before ? true : undefined,
    );
  });

  it('are judged by their tool’s name, and gone when they are deleted', async () => {
    await put('/v1/remote-agents/gone', { url: example.url, description: 'Soon gone' });
    const { status } = await ours.ask('DELETE', '/v1/remote-agents/gone');
    assert.equal(status, 204);
    const { body } = await ours.ask('POST', '/v1/agents', {
      body: { key: 'careful', model: 'rehearsal/follow', tools: { ask: [{ tool: 'a2a_example' }] } },
    });
    assert.equal(body.key, 'careful');
    const sent = await ours.ask('POST', '/v1/sessions/careful/messages?wait=20', {
      body: { agent: 'careful', text: 'a2a_example {"message":"May I?"}' },
    });
    assert.equal(sent.body.status, 'waiting_approval');
    assert.ok(!example.heard.includes('May I?'));
  });

  it('are set up without a credential in the clear, and only where egress may go', async () => {
    const clear = { url: example.url, description: 'x', credential: 'Bearer abc' };
    const refused = await ours.ask('PUT', '/v1/remote-agents/clear', { body: clear });
    assert.match(JSON.stringify(refused.body), /secret:\/\/NAME/);
    const inside = { url: 'http://127.0.0.1:1/', description: 'x' };
    assert.equal((await ours.ask('PUT', '/v1/remote-agents/inside', { body: inside })).status, 422);
    const { body } = await ours.ask('GET', '/v1/remote-agents');
    assert.deepEqual(
      body.data.map(({ name, tool }: { name: string; tool: string }) => [name, tool]),
      [
        ['example', 'a2a_example'],
        ['theirs', 'a2a_theirs'],
      ],
    );
  });
});
