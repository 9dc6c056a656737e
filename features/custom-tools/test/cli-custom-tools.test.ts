import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startApi, type TestApi } from '#test/support/stack.ts';
import { runCli } from '#test/cli/support/run-cli.ts';

describe('CU-1 `tempoclaw tools custom`', () => {
  let api: TestApi;
  let folder: string;
  before(async () => {
    api = await startApi();
    folder = mkdtempSync(join(tmpdir(), 'tempoclaw-cli-'));
  });
  after(async () => {
    await api.stop();
    rmSync(folder, { recursive: true });
  });

  const cli = (...args: string[]) =>
    runCli(['tools', 'custom', ...args], { url: api.url, cwd: folder, env: { TEMPOCLAW_API_KEY: api.key } });
  const write = (text: string): void => writeFileSync(join(folder, 'tool.yaml'), text);

  test('a file is made a tool, changed, tried and removed', async () => {
    assert.match((await cli()).stderr, /No custom tools/);
    write('name: count_lines\ndescription: Counts\ncommand: wc -l {{.file}}\nenv: { TOKEN: canary-value }\n');
    const added = await cli('add', 'tool.yaml', '--json');
    assert.equal(added.code, 0, added.stderr);
    assert.doesNotMatch(added.stdout, /canary/);
    assert.match((await cli('list')).stdout, /count_lines +all +on +once +wc -l \{\{\.file\}\}/);

    write('name: count_lines\ncommand: wc -w {{.path}}\nreplay: readonly\n');
    const changed = JSON.parse((await cli('add', 'tool.yaml', '--json')).stdout);
    assert.deepEqual(
      [changed.revision, changed.description, changed.env_names, changed.parameters.required],
      [2, '', [], ['path']],
    );
    const same = JSON.parse((await cli('add', 'tool.yaml', '--json')).stdout);
    assert.equal(same.revision, 2, 'the same file again changes nothing');

    const tried = await cli('test', 'count_lines', '--args', '{"path":"a b"}');
    assert.match(tried.stdout, /wc -w 'a b'/);
    assert.match(tried.stdout, /allow/);
    assert.match((await cli('show', 'tool.yaml')).stdout, /count_lines/);
    assert.match((await cli('remove', 'count_lines')).stdout, /is removed/);
    const gone = await cli('remove', 'count_lines');
    assert.deepEqual([gone.code, /There is no custom tool count_lines/.test(gone.stderr)], [1, true]);
  });

  test('what is wrong with a file is said with its place', async () => {
    write('name: quoted\ncommand: echo "{{.x}}"\n');
    const quoted = await cli('add', 'tool.yaml');
    assert.equal(quoted.code, 1);
    assert.match(quoted.stderr, /outside of quotes/);
    write('command: [unclosed\n');
    assert.equal((await cli('add', 'tool.yaml')).code, 2);
    write('command: x\n');
    assert.match((await cli('add', 'tool.yaml')).stderr, /has no name/);
    assert.match((await cli('add', 'absent.yaml')).stderr, /cannot be read/);
  });

  test('an agent’s own tool is told from the one of all by --agent', async () => {
    await api.ask('POST', '/v1/agents', { body: { key: 'helper', model: 'rehearsal/echo' } });
    for (const owner of ['', 'agent_id: helper\n']) {
      write(`name: whose\ncommand: echo ${owner === '' ? 'all' : 'helper'}\n${owner}`);
      assert.equal((await cli('add', 'tool.yaml')).code, 0);
    }
    assert.match((await cli('show', 'whose')).stdout, /echo all/);
    assert.match((await cli('show', 'whose', '--agent', 'helper')).stdout, /echo helper/);
    const mine = await runCli(['tools', 'show', 'whose', '--agent', 'helper'], {
      url: api.url,
      cwd: folder,
      env: { TEMPOCLAW_API_KEY: api.key },
    });
    assert.match(mine.stdout, /Runs: echo helper/);
  });
});
