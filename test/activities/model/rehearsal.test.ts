import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createModels, type Models, PACKAGE_SCRIPTS } from '#activities/model/model-catalog.ts';
import { createScriptStore } from '#activities/model/rehearsal-script.ts';
import type { ChatMessage } from '#domain/turn/message.ts';
import { ModelError } from '#domain/model/model.ts';
import { ask, READ_FILE, requestOf, say } from './ask.ts';

const models = createModels({ providers: {} });
let folder: string;
let own: Models;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rehearsal-'));
  own = createModels({ providers: {} }, { userDir: folder });
});
after(() => rm(folder, { recursive: true, force: true }));

/** Writes a script of the test's own and returns its reference. */
async function script(name: string, yaml: string): Promise<string> {
  await writeFile(join(folder, `${name}.yaml`), yaml);
  return `rehearsal/${name}`;
}

function asked(name: string, id = `call_${name}`): ChatMessage {
  return { role: 'assistant', text: '', calls: [{ id, name, args: {} }] };
}

function told(name: string, text: string, ok = true): ChatMessage {
  return { role: 'tool', results: [{ callId: `call_${name}`, name, ok, text }] };
}

describe('MO-2 the scripts that come with the package', () => {
  test('each can be loaded, says what it is for, and answers anything', async () => {
    const names = await createScriptStore([PACKAGE_SCRIPTS]).names();
    assert.ok(names.includes('welcome') && names.includes('bench') && names.includes('echo'));
    for (const name of names) {
      assert.notEqual((await createScriptStore([PACKAGE_SCRIPTS]).load(name)).description, '', name);
      const { answer } = await ask(models, `rehearsal/${name}`, 'something nobody foresaw');
      assert.ok(answer.text !== '' || answer.calls.length > 0, name);
    }
  });

  test('echo gives the message back, and never reads it as a placeholder', async () => {
    const { answer, deltas } = await ask(models, 'rehearsal/echo', 'hello {{system}} {{user}}');
    assert.equal(answer.text, 'hello {{system}} {{user}}');
    assert.deepEqual(deltas, [answer.text]);
    assert.equal(answer.finish, 'stop');
  });

  test('welcome greets in pieces and names what to try', async () => {
    const { answer, deltas } = await ask(models, 'rehearsal/welcome', 'hello');
    assert.ok(deltas.length > 10);
    assert.equal(deltas.join(''), answer.text);
    for (const word of ['list files', 'write a note', 'run a command', 'parallel', 'crash']) {
      assert.ok(answer.text.includes(word), word);
    }
  });

  for (const [word, tools] of [
    ['list files', ['list_files']],
    ['write a note', ['write_file']],
    ['run a command', ['exec']],
    ['parallel', ['list_files', 'datetime', 'session_status']],
    ['crash', ['write_file']],
  ] as const) {
    test(`welcome shows ${word} with ${tools.join(', ')}`, async () => {
      const { answer } = await ask(models, 'rehearsal/welcome', word);
      assert.deepEqual(
        answer.calls.map((call) => call.name),
        tools,
      );
      assert.equal(answer.finish, 'calls');
    });
  }

  test('welcome tells what a call gave, and says so when it was refused', async () => {
    const gave = await ask(models, 'rehearsal/welcome', [
      say('list files'),
      asked('list_files'),
      told('list_files', 'a.txt'),
    ]);
    assert.match(gave.answer.text, /a\.txt/);
    const refused = [say('run a command'), asked('exec'), told('exec', 'denied by Ada', false)];
    const { answer } = await ask(models, 'rehearsal/welcome', refused);
    assert.match(answer.text, /did not work[\s\S]*denied by Ada/);
    assert.deepEqual(answer.calls, []);
  });

  test('bench asks for the steps and the calls that the message names, then ends', async () => {
    const messages: ChatMessage[] = [say('steps=3 parallel=2 tool=exec args={"command": "echo {hi}"}')];
    for (let step = 0; step < 3; step++) {
      const { answer } = await ask(models, 'rehearsal/bench', messages);
      assert.deepEqual(
        answer.calls,
        [1, 2].map(() => ({ name: 'exec', args: { command: 'echo {hi}' } })),
      );
      messages.push(asked('exec'), told('exec', 'hi'));
    }
    const { answer } = await ask(models, 'rehearsal/bench', messages);
    assert.deepEqual([answer.text, answer.calls], ['Done: 3 steps.', []]);
  });

  test('bench of another turn counts its own steps', async () => {
    const former = [
      say('steps=1'),
      asked('datetime'),
      told('datetime', 'noon'),
      { role: 'assistant' as const, text: 'Done', calls: [] },
    ];
    const { answer } = await ask(models, 'rehearsal/bench', [...former, say('steps=1')]);
    assert.equal(answer.calls.length, 1);
  });

  test('crash-demo writes, runs a slow command, then answers', async () => {
    const first = await ask(models, 'rehearsal/crash-demo', 'seconds=3');
    assert.equal(first.answer.calls[0]?.name, 'write_file');
    const messages = [say('seconds=3'), asked('write_file'), told('write_file', 'ok')];
    const second = await ask(models, 'rehearsal/crash-demo', messages);
    assert.deepEqual(second.answer.calls[0]?.args, { command: 'sleep 3 && echo finished', timeout: 300 });
    const third = await ask(models, 'rehearsal/crash-demo', [
      ...messages,
      asked('exec'),
      told('exec', 'finished'),
    ]);
    assert.match(third.answer.text, /finished/);
  });

  test('follow does what the message spells out, step by step', async () => {
    const user = say(
      'Two at once.\nread_file {"path": "a"}\ndatetime {}\nthen\nexec {"command":\nthen\nAll done.',
    );
    const first = await ask(models, 'rehearsal/follow', [user]);
    assert.equal(first.answer.text, 'Two at once.');
    assert.deepEqual(first.answer.calls, [
      { name: 'read_file', args: { path: 'a' } },
      { name: 'datetime', args: {} },
    ]);
    const after1 = [user, asked('read_file'), told('read_file', 'A')];
    const second = await ask(models, 'rehearsal/follow', after1);
    assert.deepEqual(second.answer.calls[0]?.args, {});
    assert.match(second.answer.calls[0]?.invalid ?? '', /not a JSON object: \{"command":/);
    const after2 = [...after1, asked('exec'), told('exec', 'newest result')];
    assert.equal((await ask(models, 'rehearsal/follow', after2)).answer.text, 'All done.');
    const after3 = [...after2, asked('exec'), told('exec', 'newest result')];
    assert.equal((await ask(models, 'rehearsal/follow', after3)).answer.text, 'newest result');
  });

  test('flaky fails the first tries only, as attempts tell', async () => {
    for (const attempt of [1, 2]) {
      await assert.rejects(ask(models, 'rehearsal/flaky', 'rate limit', { attempt }), {
        code: 'RateLimited',
        retryable: true,
        retryAfterMs: 200,
      });
    }
    assert.equal(
      (await ask(models, 'rehearsal/flaky', 'rate limit', { attempt: 3 })).answer.text,
      'Here after all.',
    );
  });

  test('flaky can break off after it has said something', async () => {
    const deltas: string[] = [];
    const onDelta = (text: string) => deltas.push(text);
    await assert.rejects(ask(models, 'rehearsal/flaky', 'cut off', { onDelta }), { code: 'Unreachable' });
    assert.deepEqual(deltas, ['Half an answer, ']);
  });
});

describe('MO-2 what a script can match on and say', () => {
  test('the first rule that applies wins, and all its conditions must hold', async () => {
    const ref = await script(
      'first',
      `rules:
  - when: { user: apple, turn: 2 }
    reply: { text: second turn }
  - when: { user: [pear, apple], system: brief }
    reply: { text: fruit }
  - reply: { text: else }
`,
    );
    assert.equal((await ask(own, ref, 'An APPLE')).answer.text, 'fruit');
    assert.equal((await ask(own, ref, 'a plum')).answer.text, 'else');
    assert.equal((await ask(own, ref, 'apple', { system: 'other' })).answer.text, 'else');
    const later = [say('x'), { role: 'assistant' as const, text: 'y', calls: [] }, say('apple')];
    assert.equal((await ask(own, ref, later)).answer.text, 'second turn');
  });

  test('groups of a regex, results by number, and counts fill placeholders; numbers stay numbers', async () => {
    const ref = await script(
      'groups',
      `params: { ms: { default: 5, max: 100 } }
rules:
  - when: { user: { regex: 'read (\\S+) as (?<kind>\\w+)' }, step: 0 }
    reply:
      text: '{{match.kind}} of {{match.1}}'
      calls:
        - { tool: wait, args: { timeMs: '{{param.ms}}', note: 'step {{step}} copy {{index}}', list: ['{{turn}}'] }, times: 2 }
  - when: { last_tool: wait, result: alpha }
    reply: { text: '{{result.2}} after {{result.1}}' }
  - reply: { text: none }
`,
    );
    const user = say('read a.txt as text ms=500');
    const { answer } = await ask(own, ref, [user]);
    assert.equal(answer.text, 'text of a.txt');
    assert.deepEqual(
      answer.calls.map((call) => call.args),
      [1, 2].map((copy) => ({ timeMs: 100, note: `step 0 copy ${copy}`, list: [1] })),
    );
    const results: ChatMessage = {
      role: 'tool',
      results: ['alpha', 'beta'].map((text, index) => ({
        callId: `c${index}`,
        name: 'wait',
        ok: true,
        text,
      })),
    };
    assert.equal((await ask(own, ref, [user, asked('wait'), results])).answer.text, 'beta after alpha');
  });

  test('a rule can ask which tools are offered and how large the prompt is', async () => {
    const ref = await script(
      'offers',
      `rules:
  - when: { offers: [read_file, exec] }
    reply: { text: both }
  - when: { tokens: { from: 500 } }
    reply: { error: { code: ContextOverflow, message: 'too many: {{tokens}}' } }
  - reply: { text: '{{tools}}' }
`,
    );
    const exec = { ...READ_FILE, name: 'exec' };
    assert.equal((await ask(own, ref, 'hi', { tools: [READ_FILE, exec] })).answer.text, 'both');
    assert.equal((await ask(own, ref, 'hi', { tools: [READ_FILE] })).answer.text, 'read_file');
    await assert.rejects(ask(own, ref, 'x'.repeat(4000), { tools: [] }), { code: 'ContextOverflow' });
  });

  test('collected messages in a row are read as one', async () => {
    assert.equal((await ask(models, 'rehearsal/echo', [say('one'), say('two')])).answer.text, 'one\ntwo');
  });

  test('a stop during a delay ends it with its own reason', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    setTimeout(() => stop.abort(reason), 20);
    await assert.rejects(
      ask(models, 'rehearsal/flaky', 'hang', { signal: stop.signal }),
      (error) => error === reason,
    );
  });

  test('a stream never cuts a character in two', async () => {
    const ref = await script(
      'emoji',
      "rules:\n  - reply: { text: '🙂🙂🙂', stream: { chunk: 1, every: 0 } }\n",
    );
    assert.deepEqual((await ask(own, ref, 'hi')).deltas, ['🙂', '🙂', '🙂']);
  });

  test('equal conversations get equal answers from any instance', async () => {
    const other = createModels({ providers: {} });
    const messages = [say('steps=5'), asked('datetime'), told('datetime', 'noon')];
    const first = await ask(models, 'rehearsal/bench', messages);
    assert.deepEqual((await ask(other, 'rehearsal/bench', messages)).answer, first.answer);
  });

  test('usage follows the size of prompt and answer, or the script', async () => {
    const short = await ask(models, 'rehearsal/echo', 'hi', { tools: [] });
    const long = await ask(models, 'rehearsal/echo', 'hi'.repeat(400), { tools: [] });
    // These are 14 characters of system prompt and 2 or 800 of the message, four to a token.
    assert.deepEqual([short.answer.usage.inputTokens, long.answer.usage.inputTokens], [4, 204]);
    const ref = await script(
      'usage',
      'rules:\n  - reply: { text: x, usage: { input: 7, output: 8, cached: 3 } }\n',
    );
    assert.deepEqual((await ask(own, ref, 'hi')).answer.usage, {
      inputTokens: 7,
      outputTokens: 8,
      cachedInputTokens: 3,
    });
  });
});

describe('MO-2 the documentation', () => {
  test('its worked example does what it says', async () => {
    const page = await readFile(join(import.meta.dirname, '../../../docs/rehearsal.md'), 'utf8');
    const ref = await script('weather', /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '');
    const user = say('What is the weather in Lisbon? pace=0');
    const first = await ask(own, ref, [user]);
    assert.deepEqual(first.answer.calls, [{ name: 'read_file', args: { path: 'weather/Lisbon.txt' } }]);
    const found = await ask(own, ref, [user, asked('read_file'), told('read_file', 'sunny')]);
    assert.equal(found.answer.text, 'It says: sunny');
    const missing = await ask(own, ref, [user, asked('read_file'), told('read_file', 'no such file', false)]);
    assert.equal(missing.answer.text, 'I know nothing about it: no such file');
  });

  test('it names every script of the package', async () => {
    const page = await readFile(join(import.meta.dirname, '../../../docs/rehearsal.md'), 'utf8');
    for (const name of await createScriptStore([PACKAGE_SCRIPTS]).names())
      assert.ok(page.includes(`| \`${name}\` |`), name);
  });
});

describe('MO-2 finding and checking scripts', () => {
  test('a user’s script wins over the package’s, and a change is seen', async () => {
    const ref = await script('echo', 'rules:\n  - reply: { text: mine }\n');
    assert.equal((await ask(own, ref, 'hi')).answer.text, 'mine');
    await script('echo', 'rules:\n  - reply: { text: changed }\n');
    assert.equal((await ask(own, ref, 'hi')).answer.text, 'changed');
    await rm(join(folder, 'echo.yaml'));
    assert.equal((await ask(own, ref, 'hi')).answer.text, 'hi');
  });

  for (const name of ['nope', '../../package', '..%2fx', 'a/b', 'UPPER', '']) {
    test(`${JSON.stringify(name)} is no script, and the message lists those there are`, async () => {
      const { provider } = models.resolve('rehearsal/echo');
      await assert.rejects(provider.generate(requestOf([say('hi')], { model: name })), {
        code: 'UnknownModel',
        message: /bench, .*welcome/,
      });
    });
  }

  const FAULTS: readonly [string, string, RegExp][] = [
    [
      'an unknown key',
      'rules:\n  - reply: { txt: hi }\n',
      /f\.yaml:2:\d+ rules\.0\.reply: unknown key txt; allowed: text, calls/,
    ],
    [
      'a bad duration',
      'rules:\n  - reply: { text: a, delay: soon }\n',
      /f\.yaml:2:30 rules\.0\.reply\.delay: expected milliseconds/,
    ],
    [
      'an unknown placeholder',
      "rules:\n  - reply:\n      text: '{{usr}}'\n",
      /f\.yaml:3:13 .*\{\{usr\}\} is not a placeholder; allowed: user/,
    ],
    [
      'an undeclared parameter',
      "rules:\n  - reply: { text: '{{param.n}}' }\n",
      /param\.n\}\} is not declared under params/,
    ],
    [
      'a bad regex',
      "rules:\n  - when: { user: { regex: '(' } }\n    reply: { text: a }\n  - reply: { text: b }\n",
      /f\.yaml:2:\d+ rules\.0\.when\.user: Invalid regular expression/,
    ],
    [
      'a last rule with a condition',
      'rules:\n  - when: { user: a }\n    reply: { text: a }\n',
      /the last rule must apply always/,
    ],
    ['a reply that says nothing', 'rules:\n  - reply: { delay: 1s }\n', /needs text, calls, follow or error/],
    [
      'an unknown error code',
      'rules:\n  - reply: { error: { code: Oops } }\n',
      /expected one of RateLimited/,
    ],
    ['no YAML', 'rules: [\n', /f\.yaml:\d+:\d+ not YAML/],
    ['an empty file', '', /expected a mapping with description, params/],
  ];
  for (const [what, yaml, message] of FAULTS) {
    test(`${what} is told with its place and what is allowed`, async () => {
      const ref = await script('f', yaml);
      await assert.rejects(ask(own, ref, 'hi'), (error) => {
        assert.ok(error instanceof ModelError);
        assert.deepEqual([error.code, error.retryable], ['BadRequest', false]);
        assert.match(error.message, message);
        return true;
      });
    });
  }
});
