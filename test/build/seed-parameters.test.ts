/**
 * EX-1: the tools of GoClaw and clawft exist in each dialect, and accept the parameters that each names, with its
 * defaults.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadCatalog } from '#policy/catalog.ts';
import { FEATURES } from '#features';
import type { ToolDialect } from '#domain/agent.ts';

const catalog = await loadCatalog(FEATURES);

type Args = Readonly<Record<string, unknown>>;

/** A call with all the parameters of its row in their table, and the result if that has another name or a default. */
type Row = readonly [tool: string, args: Args, becomes?: Args];

/** What their defaults add to a call with the fewest arguments. */
type Defaults = readonly [tool: string, args: Args, filledIn: Args];

const AT = '2026-03-04T05:06:07Z';

const GOCLAW: readonly Row[] = [
  ['read_file', { path: 'a', offset: 0, limit: 3 }],
  ['write_file', { path: 'a', content: 'b', append: true, deliver: true }],
  ['edit', { path: 'a', old_string: 'b', new_string: 'c', replace_all: true }],
  ['edit_file', { path: 'a', old_string: 'b', new_string: 'c' }],
  ['list_files', { path: 'a' }],
  ['exec', { command: 'ls', working_dir: 'a' }],
  ['bash', { command: 'ls', working_dir: 'a' }],
  ['wait', { timeMs: 300_000, reason: 'a' }],
  [
    'web_search',
    { query: 'a', count: 10, country: 'DE', search_lang: 'de', ui_lang: 'de-DE', freshness: 'pw' },
  ],
  ['web_search', { query: 'a', freshness: '2026-01-01to2026-02-01' }],
  ['web_fetch', { url: 'https://a.example', extractMode: 'text', maxChars: 100 }],
  ['memory_search', { query: 'a', maxResults: 3, minScore: 0.2, depth: 'l2' }],
  ['memory_search', { query: 'a', createdAfter: AT, createdBefore: AT }],
  ['memory_get', { path: 'MEMORY.md', from: 2, lines: 3 }],
  ['sessions_list', { limit: 5, active_minutes: 10 }],
  ['sessions_history', { session_key: 'a', limit: 5, include_tools: true }],
  ['sessions_send', { message: 'a', session_key: 'b' }],
  ['sessions_send', { message: 'a', label: 'b' }],
  ['session_status', { session_key: 'a' }],
  ['spawn', { task: 'a', action: 'spawn', mode: 'sync', label: 'b', model: 'c/d', context: 'e' }],
  ['spawn', { task: 'a', agent: 'main', context: 'e', label: 'b', mode: 'sync' }],
  ['spawn', { action: 'wait', id: 'a', timeout: 300 }],
  ['spawn', { action: 'steer', id: 'a', message: 'b' }],
  ['subagent', { task: 'a' }],
  ['sessions_spawn', { task: 'a' }],
  ['subagents', { action: 'list' }],
  ['delegate', { agent_key: 'a', task: 'b', mode: 'sync', timeout: 600, files: ['c'] }],
  ['delegate', { agent: 'a', task: 'b', context: 'c', label: 'd' }],
  ['delegate', { action: 'get', delegation_id: 'a' }],
  ['delegate_search', { query: 'a', max_results: 3 }],
  [
    'evaluate_loop',
    { generator: 'a', evaluator: 'b', task: 'c', max_rounds: 5, pass_criteria: 'd', context: 'e' },
  ],
  ['handoff', { agent: 'a', action: 'transfer', reason: 'b', transfer_context: false }],
  ['handoff', { action: 'clear' }],
  [
    'team_tasks',
    {
      action: 'create',
      subject: 'a',
      description: 'b',
      priority: 2,
      blocked_by: ['c'],
      require_approval: true,
      task_type: 'general',
      assignee: 'd',
    },
  ],
  ['team_tasks', { action: 'list', status: 'in_review', page: 2 }],
  ['team_tasks', { action: 'list', status: 'all', order: 'priority' }],
  ['team_tasks', { action: 'list', status: 'active', order: 'newest' }],
  ['team_tasks', { action: 'comment', task_id: 'a', text: 'b', type: 'blocker' }],
  ['team_tasks', { action: 'progress', task_id: 'a', percent: 50, text: 'b' }],
  ['team_tasks', { action: 'attach', task_id: 'a', path: 'b' }],
  ['team_tasks', { action: 'complete', task_id: 'a', result: 'b' }],
  ['team_tasks', { action: 'search', query: 'a' }],
  ['team_message', { action: 'send', to: 'a', text: 'b' }],
  [
    'cron',
    {
      action: 'add',
      job: {
        name: 'a',
        schedule: { kind: 'cron', expr: '0 9 * * *', tz: 'UTC' },
        message: 'b',
        deliver: true,
        channel: 'c',
        to: 'd',
        agentId: 'main',
        deleteAfterRun: true,
      },
    },
  ],
  ['cron', { action: 'add', job: { name: 'a', schedule: { kind: 'at', atMs: 1 }, message: 'b' } }],
  ['cron', { action: 'add', job: { name: 'a', schedule: { kind: 'every', everyMs: 60_000 }, message: 'b' } }],
  ['cron', { action: 'list', includeDisabled: true }],
  ['cron', { action: 'update', id: 'a', patch: { message: 'b' } }],
  ['cron', { action: 'run', jobId: 'a', runMode: 'due' }],
  ['datetime', { timezone: 'Europe/Berlin' }],
  [
    'heartbeat',
    {
      action: 'set',
      enabled: true,
      interval: 300,
      prompt: 'a',
      ack_max_chars: 300,
      max_retries: 2,
      isolated_session: true,
      light_context: true,
      active_hours: '08:00-18:00',
      timezone: 'UTC',
      channel: 'a',
      chat_id: 'b',
    },
  ],
  ['heartbeat', { action: 'set_checklist', content: 'a' }],
  ['heartbeat', { action: 'logs', limit: 5, offset: 5 }],
  [
    'message',
    { action: 'send', message: 'a', channel: 'b', target: 'c', forward: true, forward_reason: 'd' },
  ],
  ['create_forum_topic', { chat_id: 'a', name: 'b', icon_color: 7_322_096, icon_custom_emoji_id: 'c' }],
  ['knowledge_graph_search', { query: 'a', entity_type: 'person', entity_id: '12', max_depth: 5, as_of: AT }],
  ['skill_search', { query: 'a', max_results: 3 }],
  ['use_skill', { name: 'a', params: { b: 'c' } }],
  ['publish_skill', { path: 'a', visibility: 'public' }],
  ['browser', { action: 'open', targetUrl: 'https://a.example' }],
  [
    'browser',
    {
      action: 'snapshot',
      targetId: 't1',
      maxChars: 8000,
      interactive: true,
      compact: true,
      depth: 4,
      timeoutMs: 5000,
    },
  ],
  ['browser', { action: 'screenshot', fullPage: true }],
  ['browser', { action: 'act', request: { kind: 'click', ref: 'e1' } }],
  ...['status', 'start', 'stop', 'tabs', 'close', 'navigate', 'console'].map(
    (action): Row => [
      'browser',
      { action, ...(action === 'navigate' && { targetUrl: 'https://a.example' }) },
    ],
  ),
  ['create_image', { prompt: 'a', aspect_ratio: '3:4', filename_hint: 'b' }],
  ['image', { prompt: 'a' }],
  [
    'create_audio',
    { prompt: 'a', type: 'music', duration: 5, lyrics: 'b', instrumental: false, filename_hint: 'c' },
  ],
  [
    'create_video',
    { prompt: 'a', duration: 6, aspect_ratio: '9:16', filename_hint: 'b', image_path: 'c.png' },
  ],
  ['tts', { text: 'a', voice: 'b', model: 'c', provider: 'edge' }],
  ['read_image', { prompt: 'a', path: 'b' }],
  ['read_image', { prompt: 'a', url: 'https://a.example/b.png' }],
  ['read_audio', { prompt: 'a', media_id: 'artifact:b' }],
  ['read_video', { prompt: 'a', media_id: 'artifact:b' }],
  ['read_video', { prompt: 'a', url: 'https://a.example/b.mp4' }],
  ['read_document', { prompt: 'a', media_id: 'artifact:b' }],
  ['read_document', { prompt: 'a', path: 'b.pdf' }],
];

const GOCLAW_DEFAULTS: readonly Defaults[] = [
  ['web_search', { query: 'a' }, { count: 5 }],
  ['web_fetch', { url: 'https://a.example' }, { max_chars: 60_000 }],
  ['memory_search', { query: 'a' }, { maxResults: 6, depth: 'l1' }],
  ['memory_get', { path: 'MEMORY.md' }, { from: 1 }],
  ['sessions_list', {}, { limit: 20 }],
  ['sessions_history', { session_key: 'a' }, { limit: 20, include_tools: false }],
  ['spawn', { task: 'a' }, { action: 'spawn' }],
  ['delegate', { agent_key: 'a', task: 'b' }, { mode: 'async' }],
  ['delegate_search', { query: 'a' }, { max_results: 5 }],
  ['handoff', { agent: 'a', reason: 'b' }, { action: 'transfer', transfer_context: true }],
  ['team_tasks', { action: 'list' }, { status: '', page: 1 }],
  ['knowledge_graph_search', { query: 'a' }, { max_depth: 2 }],
  ['skill_search', { query: 'a' }, { max_results: 5 }],
  ['browser', { action: 'snapshot' }, { max_chars: 8000 }],
];

const CLAWFT: readonly Row[] = [
  ['read_file', { path: 'a' }],
  ['write_file', { path: 'a', content: 'b' }],
  [
    'edit_file',
    { path: 'a', old_text: 'b', new_text: 'c' },
    { path: 'a', old_string: 'b', new_string: 'c', replace_all: false },
  ],
  ['list_directory', { path: 'a' }],
  ['exec_shell', { command: 'ls', timeout: 300 }],
  ['memory_read', { query: 'a' }],
  ['memory_write', { content: 'a', mode: 'overwrite' }],
  ['web_search', { query: 'a', num_results: 3 }],
  ['web_fetch', { url: 'https://a.example', method: 'POST', headers: { a: 'b' } }],
  ['message', { channel: 'a', chat_id: 'b', content: 'c' }],
  ['spawn', { command: 'ls', args: ['-l'], description: 'a', timeout: 60 }],
];

/** What they, or a later version of one, accept, and we refuse in words. */
const REFUSED: readonly (readonly [tool: string, args: Args, words: RegExp])[] = [
  ['spawn', { task: 'a', team_task_id: 'b' }, /team_task_id: /],
  ['spawn', { task: 'a', estimated_duration: 5 }, /estimated_duration: nothing goes by it; timeout/],
  ['spawn', { task: 'a', agent: 'main', model: 'b/c' }, /model: another agent has a model of its own/],
  ['team_message', { action: 'send', to: 'a', text: 'b', media: ['c'] }, /media: .*team_tasks/],
  ['wait', { timeMs: 99 }, /timeMs/],
  ['wait', { timeMs: 300_001 }, /timeMs/],
  ['web_fetch', { url: 'https://a.example', maxChars: 99 }, /maxChars|max_chars/],
  ['web_search', { query: 'a', count: 11 }, /count/],
  ['knowledge_graph_search', { query: 'a', max_depth: 6 }, /max_depth/],
  ['heartbeat', { action: 'set', interval: 299 }, /interval/],
  ['create_forum_topic', { chat_id: 'a', name: 'b'.repeat(129) }, /name/],
  ['create_video', { prompt: 'a', duration: 5 }, /duration/],
];

function parsed(dialect: ToolDialect, tool: string, args: Args): unknown {
  const read = catalog.in(dialect).parse(tool, args);
  assert.ok(read.ok, `${tool} ${JSON.stringify(args)}: ${read.ok ? '' : read.message}`);
  return read.input;
}

describe('TL parameters of the seeds', () => {
  const seeds = [
    ['goclaw', GOCLAW],
    ['clawft', CLAWFT],
  ] as const;
  for (const [dialect, rows] of seeds)
    test(`of ${dialect}: all that its tools take is taken`, () => {
      for (const [tool, args, becomes] of rows) {
        const canonical = parsed(dialect, tool, args);
        if (becomes) assert.deepEqual(canonical, becomes, tool);
      }
    });

  for (const [dialect, rows] of seeds)
    test(`of ${dialect}: its models are shown each of its tools by its name`, () => {
      const names = catalog.list().map(({ name }) => name);
      const shown = new Set(catalog.offer(dialect, names).map(({ name }) => name));
      // Aliases are accepted, and not listed beside the name.
      const aliases = ['edit_file', 'bash', 'image', 'subagent', 'sessions_spawn', 'subagents'];
      for (const [tool] of rows)
        assert.ok(shown.has(tool) || (dialect === 'goclaw' && aliases.includes(tool)), tool);
    });

  test('have the defaults of the seed', () => {
    for (const [tool, args, filledIn] of GOCLAW_DEFAULTS) {
      assert.partialDeepStrictEqual(parsed('goclaw', tool, args), filledIn, tool);
    }
  });

  test('that mean nothing here, and values out of bounds, are refused in words', () => {
    for (const [tool, args, words] of REFUSED) {
      const read = catalog.in('goclaw').parse(tool, args);
      assert.match(read.ok ? '' : read.message, words, tool);
    }
  });
});

test('clawft’s message names its chat in each call; in other words that is said to be the wish of somebody', async () => {
  const catalog = await loadCatalog(FEATURES);
  const args = { channel: 'tg', chat_id: '7', content: 'Hi.' };
  const clawft = catalog.in('clawft').parse('message', args);
  assert.ok(clawft.ok);
  assert.equal(clawft.args['forward'], true);
  const canonical = catalog.parse('message', args);
  assert.ok(canonical.ok);
  assert.deepEqual(canonical.args, { channel: 'tg', target: '7', message: 'Hi.' });
});
