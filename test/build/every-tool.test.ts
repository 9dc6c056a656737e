/** EX-3: every action of every tool works where it is used: in a worker with its stores, its server and its agents. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createCatalog, loadTools } from '#policy/catalog.ts';
import { FEATURES } from '#features';
import { wavOf } from '#test/support/documents.ts';
import { pngOf } from '#test/support/image-bytes.ts';
import { type MediaServer, startMediaServer } from '#test/support/media-server.ts';
import { type Answer, type Stack, startStack } from '#test/support/stack.ts';
import { startSite, type WebSite } from '#test/support/web-site.ts';

/** `before` are calls that must come earlier in the same turn. */
type Work = readonly [tool: string, args: object, before?: string];

/** Each does what is requested. They follow each other in one session. */
const WORK: readonly Work[] = [
  ['datetime', {}],
  ['wait', { timeMs: 100, reason: 'tea' }],
  ['cron', { action: 'status' }],
  [
    'cron',
    { action: 'add', job: { name: 'tea', schedule: { kind: 'cron', expr: '0 9 1 1 *' }, message: 'Tea.' } },
  ],
  ['cron', { action: 'list' }],
  ['gateway', { action: 'status' }],
  ['heartbeat', { action: 'set', interval: 600 }],
  ['heartbeat', { action: 'status' }],
  ['workspace_dir', {}],
  ['write_file', { path: 'a.txt', content: 'one\ntwo\n' }],
  ['read_file', { path: 'a.txt' }],
  [
    'write_file',
    { path: 'skills/tea/SKILL.md', content: '---\nname: tea\ndescription: Makes tea\n---\nBoil.' },
  ],
  ['skill_search', { query: 'tea' }],
  ['publish_skill', { path: 'skills/tea' }],
  ['use_skill', { name: 'tea' }],
  ['edit', { path: 'a.txt', old_string: 'two', new_string: 'three' }],
  ['list_files', {}],
  ['search', { pattern: 'three' }],
  ['glob', { pattern: '*.txt' }],
  ['exec', { command: 'cat a.txt' }],
  ['spawn_process', { command: 'cat', args: ['a.txt'] }],
  ['openai_compat_call', { provider: 'site', endpoint: 'moderations', body: { input: 'tea' } }],
  ['memory_write', { content: 'Otters like fish.' }],
  ['memory_write', { content: 'Otters swim.', path: 'memory/otters.md', mode: 'overwrite' }],
  ['memory_read', { query: 'fish' }],
  ['memory_get', { path: 'memory/otters.md', from: 1, lines: 1 }],
  ['memory_search', { query: 'otters', maxResults: 2, depth: 'l2' }],
  ['knowledge_graph_search', { query: 'otters', entity_type: 'animal', max_depth: 1 }],
  ['read_document', { prompt: 'What is it?', path: 'a.txt' }],
  ['read_image', { prompt: 'What is it?', url: 'SITE/image.png' }],
  ['read_audio', { prompt: 'What is it?', url: 'SITE/sound.wav' }],
  ['web_fetch', { url: 'SITE/page' }],
  ['web_search', { query: 'otters' }],
  ['create_image', { prompt: 'An otter' }],
  ['create_audio', { prompt: 'Jazz' }],
  ['create_video', { prompt: 'An otter' }],
  ['tts', { text: 'Hello' }],
  ['process', { action: 'list' }],
  ['browser', { action: 'status' }],
  ['browser', { action: 'stop' }],
  ['canvas', { action: 'show', html: '<p id="a">Tea</p>' }],
  ['canvas', { action: 'update', selector: '#a', html: 'Coffee' }],
  ['nodes', { action: 'list' }],
  ['tool_search', { query: 'weather' }],
  ['session_status', {}],
  ['sessions_list', {}],
  ['sessions_list', { limit: 5, active_minutes: 2.5 }],
  ['sessions_history', { session_key: 'other', include_tools: true }],
  ['sessions_send', { session_key: 'other', message: 'Again.' }],
  ['sessions_send', { label: 'Hello', message: 'And again.' }],
  ['agents_list', {}],
  ['delegate_search', { query: 'somebody who writes' }],
  ['delegate', { agent_key: 'mate', task: 'Say.', mode: 'sync' }],
  ['delegate', { action: 'list' }],
  ['delegate', { action: 'history' }],
  ['evaluate_loop', { generator: 'mate', evaluator: 'judge', task: 'Draft.' }],
  ['spawn', { action: 'run', task: 'Say.' }],
  ['spawn', { task: 'hold {"note":"kept"}', label: 'kept' }],
  ['spawn', { action: 'list' }],
  ['spawn', { action: 'cancel', id: 'all' }],
  ['spawn', { action: 'wait', timeout: 30 }],
  ['team_message', { action: 'send', to: 'mate', text: 'Hello.' }],
  ['team_message', { action: 'broadcast', text: 'All.' }],
  ['team_message', { action: 'read' }],
  ['team_tasks', { action: 'list' }],
  ['team_tasks', { action: 'create', subject: 'Write' }, 'team_tasks {"action":"list"}\nthen\n'],
  ['team_tasks', { action: 'get', task_id: '1' }],
  ['team_tasks', { action: 'search', query: 'Write' }],
  ['team_tasks', { action: 'comment', task_id: '1', text: 'Soon.' }],
  ['team_tasks', { action: 'update', task_id: '1', description: 'More.' }],
  ['team_tasks', { action: 'cancel', task_id: '1', text: 'No more.' }],
  ['handoff', { action: 'clear' }],
  // This one is last, because later calls would be the other agent's.
  ['handoff', { agent: 'mate', reason: 'knows more' }],
];

/** These cannot work here, and say so. */
const REFUSED: readonly Work[] = [
  ['credentialed_exec', { binary: 'gh', args: ['--version'] }],
  ['memory_get', { path: 'memory/nothing.md' }],
  ['use_skill', { name: 'nothing' }],
  ['publish_skill', { path: '.' }],
  ['process', { action: 'poll', id: 'nothing' }],
  ['restore_file', { path: 'a.txt', call: 'nothing' }],
  ['restore_memory', { path: 'MEMORY.md', call: 'nothing' }],
  ['withdraw_task', { task: 'task_none.1', call: 'nothing' }],
  ['browser', { action: 'snapshot' }],
  ['read_video', { prompt: 'What is it?', path: 'nothing.mp4' }],
  ['canvas', { action: 'update', html: 'x' }],
  ['nodes', { action: 'invoke', node: 'nothing', capability: 'system.info' }],
  ['web_fetch', { url: 'http://169.254.169.254/' }],
  ['delegate', { action: 'get', id: 'nothing' }],
  ['delegate', { action: 'cancel', id: 'nothing' }],
  ['spawn', { action: 'get', id: 'nothing' }],
  ['spawn', { action: 'steer', id: 'nothing', message: 'Other.' }],
  ['sessions_history', { session_key: 'nowhere' }],
  ['team_tasks', { action: 'complete', task_id: '99', result: 'x' }],
  ['message', { message: 'Hello.', channel: 'nowhere' }],
  ['create_forum_topic', { chat_id: '-1', name: 'Tea' }],
];

describe('EX-3 every tool in a real worker', () => {
  let stack: Stack;
  let site: WebSite;
  let providers: MediaServer;
  const ends: (() => void)[] = [];
  before(async () => {
    site = await startSite({ after: (end) => void ends.push(end) }, ({ url }, reply) =>
      url === '/image.png' || url === '/sound.wav'
        ? reply.end(url === '/image.png' ? pngOf(3, 3) : wavOf())
        : reply.setHeader('content-type', 'application/json').end('{"results":[],"text":"Said."}'),
    );
    providers = await startMediaServer();
    providers.finish();
    stack = await startStack({
      env: { TRANSCRIBE_BASE_URL: site.url, ...providers.env },
      settings: `models: { vision: [rehearsal/says], providers: { site: { baseUrl: "${site.url}/v1" } } }\negress: { allowPrivate: ["${site.place}"] }\nweb: { search: { searxng: { baseUrl: "${site.url}" } } }`,
      scripts: {
        says: 'rules:\n  - when: { user: Draft }\n    reply: { text: A draft. }\n  - reply: { text: Said. }\n',
        agrees: 'rules:\n  - reply: { text: APPROVED }\n',
      },
      agents: [
        { key: 'all', model: 'rehearsal/follow', exec: { security: 'full', ask: 'off' } },
        { key: 'mate', model: 'rehearsal/says' },
        { key: 'judge', model: 'rehearsal/agrees' },
      ],
    });
    const post = async (path: string, body: object): Promise<Answer> => {
      const answer = await stack.ask('POST', path, { body });
      assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
      return answer;
    };
    for (const to of ['mate', 'judge']) await post('/v1/agent-links', { source: 'all', target: to });
    await post('/v1/teams', { key: 'crew', lead: 'all', members: ['mate'] });
    await post('/v1/sessions/other/messages?wait=60', { text: 'Hello.', agent: 'all' });
  });
  after(async () => {
    await stack.stop();
    await providers.close();
    for (const end of ends) end();
  });

  /** The last call of a turn that makes it. */
  async function call([tool, args, before = '']: Work): Promise<Answer['body']> {
    const sent = await stack.ask('POST', '/v1/sessions/works/messages?wait=60', {
      body: {
        text: `${before}${tool} ${JSON.stringify(args).replace('SITE', site.url)}`,
        agent: 'all',
        channel: 'web',
        chat_id: 'c1',
      },
    });
    assert.equal(sent.status, 200, `${tool}: ${JSON.stringify(sent.body)}`);
    const made = await stack.ask('GET', `/v1/turns/${sent.body.turn_id}/tool-calls`);
    return made.body.data.at(-1);
  }

  for (const work of REFUSED)
    it(`${work[0]} ${JSON.stringify(work[1])} says why not`, async () => {
      const made = await call(work);
      assert.deepEqual([made.tool, made.ok], [work[0], false], JSON.stringify(made));
      assert.notEqual(made.code, 'ExecutionFailed', JSON.stringify(made));
    });

  for (const [at, work] of WORK.entries())
    it(`${at + 1}. ${work[0]} ${JSON.stringify(work[1])} does it`, async () => {
      const made = await call(work);
      assert.deepEqual([made.tool, made.ok], [work[0], true], JSON.stringify(made));
    });

  it('and no tool is left out', async () => {
    const all = createCatalog(await loadTools(FEATURES))
      .list()
      .map(({ name }) => name);
    const tried = new Set([...WORK, ...REFUSED].map(([tool]) => tool));
    assert.deepEqual(
      all.filter((name) => !tried.has(name)),
      [],
    );
  });
});
