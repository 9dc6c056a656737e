/** EX-1, EX-2, EX-4: the rules of the folder of tools, and reading what models write. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { createCatalog, loadCatalog, readToolFolder } from '#policy/catalog.ts';
import { FEATURES } from '#features';
import { defineTool, type Tool } from '#policy/define-tool.ts';
import { temporaryFolder, toolCall } from '#test/support/tool-call.ts';

const catalog = await loadCatalog(FEATURES);

function sample(name: string, overrides: Partial<Tool> = {}): Tool {
  return defineTool({
    name,
    description: 'A sample.',
    group: 'other',
    replay: 'readonly',
    input: z.object({
      text: z.string().describe('A text'),
      count: z.number().int().min(1).default(1).describe('A number'),
      deep: z.boolean().optional().describe('A flag'),
      list: z.array(z.string()).optional().describe('A list'),
    }),
    limits: { duration: 'short', timeoutSeconds: 5 },
    run: async () => ({ ok: true, text: name }),
    ...overrides,
  } as Tool);
}

describe('EX-1 the tools there are', () => {
  test('are all of SPEC TL, in each dialect under a name of its own', () => {
    const names = catalog.list().map(({ name }) => name);
    const all = [
      'read_file write_file edit list_files search glob exec process credentialed_exec spawn_process',
      'web_search web_fetch memory_search memory_get memory_read memory_write sessions_list',
      'sessions_history sessions_send session_status spawn agents_list knowledge_graph_search skill_search',
      'use_skill publish_skill browser canvas cron datetime gateway wait heartbeat message',
      'create_forum_topic delegate delegate_search evaluate_loop handoff team_tasks team_message',
      'create_image create_audio create_video tts read_image read_audio read_video read_document',
      'openai_compat_call workspace_dir nodes tool_search',
    ];
    for (const name of all.join(' ').split(' ')) assert.ok(names.includes(name), name);
    for (const dialect of ['canonical', 'goclaw', 'clawft'] as const) {
      const shown = catalog.offer(dialect, names).map(({ name }) => name);
      assert.equal(new Set(shown).size, names.length, dialect);
    }
  });

  test('have a test each', () => {
    for (const { name, group } of catalog.list()) {
      const named = [name, group].map((one) => one.replaceAll('_', '-')).join(',');
      const files = globSync([
        `test/activities/tools/${group}/{${named}}.test.ts`,
        `features/*/test/{,tools-}{${named}}.test.ts`,
        `test/build/{${named}}.test.ts`,
      ]);
      assert.notDeepEqual(files, [], `${name} has no test file`);
    }
  });

  test('are short only when their time fits a local activity', () => {
    for (const { name, limits } of catalog.list())
      if (limits.duration === 'short')
        assert.ok(typeof limits.timeoutSeconds === 'number' && limits.timeoutSeconds <= 10, name);
  });

  test('of the same name replace each other in their place; the last one wins', async () => {
    const own = createCatalog([sample('one'), sample('two'), sample('one', { description: 'Newer.' })]);
    assert.deepEqual(
      own.list().map(({ name }) => name),
      ['one', 'two'],
    );
    assert.equal(own.find('one')?.tool.description, 'Newer.');
  });

  test('a name is worth more than an alias', () => {
    const one = sample('one', { aliases: { two: {} } });
    assert.equal(createCatalog([one]).find('two')?.tool.name, 'one');
    assert.equal(createCatalog([one, sample('two')]).find('two')?.tool.name, 'two');
  });

  test('a tool that breaks the rules is refused with its reason', () => {
    const one = sample('one', { aliases: { uno: {} } });
    const faulty: readonly (readonly [Tool, RegExp])[] = [
      [sample('bad name'), /letters, digits and underscores/],
      [sample('x', { description: ' ' }), /no description/],
      [sample('x', { input: z.object({ mute: z.string() }) }), /parameter mute has no description/],
      [sample('x', { aliases: { uno: {} } }), /alias uno is taken by one/],
    ];
    for (const [tool, message] of faulty) assert.throws(() => createCatalog([one, tool]), message);
  });
});

describe('DESIGN §4 the folder of tools', () => {
  const faults: Record<string, readonly [Record<string, string>, RegExp]> = {
    'a file without a tool': [{ 'fs/a.ts': 'export const x = 1;' }, /tools\/fs\/a\.ts: exports no `tool`/],
    'a name that is not the file’s': [
      { 'fs/read-file.ts': source('readfile', 'fs') },
      /fs\/read-file\.ts: the tool is named readfile/,
    ],
    'a group that is not the folder’s': [
      { 'fs/a.ts': source('a', 'web') },
      /fs\/a\.ts: the tool is of group web, not fs/,
    ],
    'an alias that is another’s name': [
      { 'fs/a.ts': source('a', 'fs'), 'fs/b.ts': source('b', 'fs', '{ a: {} }') },
      /fs\/b\.ts: the name a is taken by tools\/fs\/a\.ts/,
    ],
  };
  for (const [name, [files, message]] of Object.entries(faults))
    test(`${name} stops the start, with the file named`, async (t) => {
      const folder = await temporaryFolder(t);
      await mkdir(join(folder, 'fs'));
      for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
      await assert.rejects(readToolFolder(pathToFileURL(`${folder}/`)), message);
    });
});

function source(name: string, group: string, aliases = '{}'): string {
  return `export const tool = { name: '${name}', group: '${group}', description: 'x', aliases: ${aliases},
    input: { safeParse: () => ({ success: true }), _zod: { def: { type: 'object', shape: {} }, parent: undefined } } };`;
}

describe('EX-1 arguments', () => {
  const own = createCatalog([
    sample('sample', {
      parameterAliases: { words: 'text' },
      ignoredParameters: ['deliver'],
      aliases: { other: { toCanonical: ({ content }) => ({ text: content }) } },
    }),
  ]);
  const good: readonly (readonly [string, unknown, unknown])[] = [
    ['sample', { text: 'a' }, { text: 'a', count: 1 }],
    [
      'sample',
      { words: 'a', count: '5', deep: 'true', list: '["x"]' },
      { text: 'a', count: 5, deep: true, list: ['x'] },
    ],
    ['sample', { text: 7, count: null, deliver: true, unknown: null }, { text: '7', count: 1 }],
    ['sample', '{"text":"a"}', { text: 'a', count: 1 }],
    ['other', { content: 'a' }, { text: 'a', count: 1 }],
  ];
  for (const [name, args, input] of good)
    test(`${name} ${JSON.stringify(args)} is read, and again the same`, () => {
      const read = own.parse(name, args);
      assert.ok(read.ok, JSON.stringify(read));
      assert.deepEqual(read.input, input);
      const again = own.parse(read.tool.name, read.args);
      assert.ok(again.ok);
      assert.deepEqual([again.input, again.args], [read.input, read.args]);
    });

  const bad: readonly (readonly [unknown, RegExp])[] = [
    [{}, /^text: is required\. Parameters of sample: text, count, deep, list$/],
    [{ text: 'a', count: 0, deep: 'maybe' }, /count: .*; deep: /],
    [{ text: 'a', extra: 1 }, /^extra: there is no such parameter\./],
    [{ text: 'a', __proto__x: 1, constructor: 1 }, /constructor: there is no such parameter/],
    [[1], /takes its arguments as a JSON object/],
    ['not json', /takes its arguments as a JSON object/],
  ];
  for (const [args, message] of bad)
    test(`${JSON.stringify(args)} is InvalidArgs with every problem named`, () => {
      const read = own.parse('sample', args);
      assert.ok(!read.ok);
      assert.equal(read.code, 'InvalidArgs');
      assert.match(read.message, message);
    });

  test('EX-4 an unknown tool is NotFound, with the nearest named', () => {
    const read = catalog.parse('reed_file', {});
    assert.deepEqual(read, {
      ok: false,
      code: 'NotFound',
      message: 'there is no tool "reed_file"; did you mean read_file?',
    });
    assert.equal(catalog.find('toString'), undefined);
    assert.equal(catalog.find('__proto__'), undefined);
  });
});

describe('TL dialects', () => {
  test('every tool is offered as JSON Schema, closed, with described parameters', () => {
    const offered = catalog.offer(
      'canonical',
      catalog.list().map(({ name }) => name),
    );
    assert.equal(offered.length, catalog.list().length);
    for (const { name, parameters } of offered) {
      assert.equal(parameters['type'], 'object', name);
      assert.equal(parameters['additionalProperties'], false, name);
      assert.ok(!('$schema' in parameters));
    }
  });

  test('clawft’s names and parameters are shown and understood', () => {
    const names = ['read_file', 'write_file', 'edit', 'list_files', 'exec'];
    const offered = catalog.offer('clawft', names);
    assert.deepEqual(
      offered.map(({ name }) => name),
      ['read_file', 'write_file', 'edit_file', 'list_directory', 'exec_shell'],
    );
    const properties = offered.map(({ parameters }) => Object.keys(parameters['properties'] as object));
    assert.deepEqual(properties.slice(2), [
      ['path', 'old_text', 'new_text'],
      ['path'],
      ['command', 'timeout'],
    ]);
    const edit = catalog.parse('edit_file', { path: 'a', old_text: 'x', new_text: 'y' });
    assert.deepEqual(edit.ok && edit.args, { path: 'a', old_string: 'x', new_string: 'y' });
    const exec = catalog.parse('exec_shell', { command: 'ls' });
    assert.deepEqual(exec.ok && exec.args, { timeout: 30, command: 'ls' });
  });

  test('goclaw’s names and parameters are shown, and its other names understood', () => {
    const names = ['exec', 'edit', 'spawn', 'read_file', 'web_fetch'];
    const offered = catalog.offer('goclaw', names);
    assert.deepEqual(
      offered.map(({ name }) => name),
      names,
    );
    const properties = offered.map(({ parameters }) => Object.keys(parameters['properties'] as object));
    assert.deepEqual(
      [properties[0], properties[3], properties[4]],
      [
        ['command', 'working_dir'],
        ['path', 'offset', 'limit'],
        ['url', 'extractMode', 'maxChars'],
      ],
    );
    for (const [name, tool] of Object.entries({
      bash: 'exec',
      edit_file: 'edit',
      sessions_spawn: 'spawn',
      subagents: 'spawn',
      subagent: 'spawn',
    }))
      assert.equal(catalog.in('goclaw').find(name)?.tool.name, tool);
  });

  test('clawft’s spawn starts a process and no subagent, in its own dialect alone', () => {
    const clawft = catalog.in('clawft');
    assert.equal(clawft.find('spawn')?.tool.name, 'spawn_process');
    assert.equal(clawft.find('subagent')?.tool.name, 'spawn');
    assert.equal(catalog.find('spawn')?.tool.name, 'spawn');
    assert.equal(catalog.in('goclaw').find('spawn')?.tool.name, 'spawn');
    const [spawn] = catalog.offer('clawft', ['spawn_process']);
    assert.deepEqual(Object.keys(spawn?.parameters['properties'] as object), [
      'command',
      'args',
      'description',
      'timeout',
    ]);
  });

  for (const dialect of ['canonical', 'goclaw', 'clawft'] as const)
    test(`every tool has a name of its own in ${dialect}, which leads back to it`, () => {
      const all = catalog.list().map(({ name }) => name);
      const shown = catalog.offer(dialect, all).map(({ name }) => name);
      assert.deepEqual(
        shown.map((name) => catalog.in(dialect).find(name)?.tool.name),
        all,
      );
      assert.equal(new Set(shown).size, all.length);
    });

  test('what clawft has, its models see with exactly its parameters', () => {
    const theirs: Readonly<Record<string, readonly string[]>> = {
      read_file: ['path'],
      write_file: ['path', 'content'],
      edit_file: ['path', 'old_text', 'new_text'],
      list_directory: ['path'],
      exec_shell: ['command', 'timeout'],
      memory_read: ['query'],
      memory_write: ['content', 'mode'],
      web_search: ['query', 'num_results'],
      web_fetch: ['url', 'method', 'headers'],
      spawn: ['command', 'args', 'description', 'timeout'],
    };
    const offered = catalog.offer(
      'clawft',
      catalog.list().map(({ name }) => name),
    );
    for (const [name, parameters] of Object.entries(theirs)) {
      const tool = offered.find((one) => one.name === name);
      assert.deepEqual(Object.keys((tool?.parameters['properties'] ?? {}) as object), parameters, name);
    }
  });

  test('a parameter that would do nothing is refused with its reason, and taken when it asks for nothing', () => {
    const refused: readonly (readonly [string, object, RegExp])[] = [
      ['spawn', { task: 'x', team_task_id: '7' }, /^team_task_id: /],
      ['spawn', { task: 'x', estimated_duration: 5 }, /^estimated_duration: .*timeout/],
      ['team_message', { action: 'send', to: 'a', text: 'x', media: ['a.png'] }, /^media: .*attach/],
    ];
    for (const [tool, args, words] of refused) {
      const read = catalog.parse(tool, args);
      assert.ok(!read.ok, tool);
      assert.match(read.message, words);
    }
    assert.equal(catalog.parse('spawn', { task: 'x', team_task_id: null }).ok, true);
  });

  test('spawn with an agent is a call of delegate, to be judged as one', () => {
    const read = catalog.parse('spawn', { agent: 'mate', task: 'Say.', context: 'All.', action: 'run' });
    assert.ok(read.ok);
    assert.equal(read.tool.name, 'delegate');
    const { args } = read;
    assert.deepEqual(args, {
      action: 'delegate',
      agent_key: 'mate',
      task: 'Say.',
      context: 'All.',
      mode: 'sync',
    });
    const steered = catalog.parse('spawn', { agent: 'mate', action: 'steer', message: 'x' });
    assert.ok(!steered.ok);
  });

  test('a tool of class verify has a probe, and no other has one', () => {
    const probe = async () => undefined;
    assert.throws(() => createCatalog([sample('one', { replay: 'verify' })]), /has a probe/);
    assert.throws(() => createCatalog([sample('one', { probe })]), /has a probe/);
    assert.ok(createCatalog([sample('one', { replay: 'verify', probe })]));
    for (const name of ['write_file', 'edit']) assert.equal(catalog.find(name)?.tool.replay, 'verify');
  });

  test('aliases are not offered in the canonical words, and unknown names not at all', () => {
    assert.deepEqual(
      catalog.offer('canonical', ['exec_shell', 'none']).map(({ name }) => name),
      ['exec'],
    );
  });

  test('a call is summed up in a few words', () => {
    const exec = catalog.find('exec')?.tool;
    assert.ok(exec);
    assert.equal(catalog.summaryOf(exec, { command: 'npm test' }), 'npm test');
    assert.equal(catalog.summaryOf(exec, { nonsense: true }), '');
  });
});

test('EX-2 concurrent calls have their own context', async () => {
  const seen: string[] = [];
  const tool = sample('ctx', {
    run: async (_deps, _input, call) => {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(`${call.sessionKey}/${call.channel}/${call.chatId}`);
      return { ok: true, text: '' };
    },
  });
  const calls = ['a', 'b', 'c'].map((key) =>
    toolCall('/ws', { sessionKey: key, channel: `c${key}`, chatId: `d${key}` }),
  );
  await Promise.all(calls.map((call) => tool.run({} as never, {}, call)));
  assert.deepEqual(seen, ['a/ca/da', 'b/cb/db', 'c/cc/dc']);
});
