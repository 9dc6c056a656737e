/** DU-8 at the command line, against the real API. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startApi, type TestApi } from '#test/support/stack.ts';
import { runCli } from '#test/cli/support/run-cli.ts';

let api: TestApi;
let folder: string;
before(async () => {
  api = await startApi();
  folder = await mkdtemp(join(tmpdir(), 'export-test-'));
});
after(async () => {
  await api.stop();
  await rm(folder, { recursive: true });
});

const run = (line: string, input?: string) =>
  runCli([...line.split(' '), '--api-key', api.key], {
    url: api.url,
    ...(input === undefined ? {} : { input }),
  });

describe('DU-8 tempoclaw export and import', () => {
  test('carry an agent from one key to another through a file or a pipe', async () => {
    await run('agents create scribe --model rehearsal/echo');
    await run('files set scribe MEMORY.md', 'The house rule is tea.');
    await run('files set scribe MEMORY.md --user ann', 'Ann drinks coffee.');
    await run('files set scribe MEMORY.md --user ben', 'Ben drinks milk.');
    const { code, stdout: file } = await run('export scribe --user ann --user ben');
    assert.equal(code, 0);
    const path = join(folder, 'scribe.ndjson');
    await writeFile(path, file);
    const same = await run(`import ${path}`);
    assert.equal(same.stdout, 'scribe is unchanged: 0 documents written, 0 skills published\n');
    const made = await run('import - --as second --json', file);
    assert.deepEqual(JSON.parse(made.stdout), { key: 'second', agent: 'made', documents: 3, skills: 0 });
    assert.equal((await run('files show second MEMORY.md --user ben')).stdout, 'Ben drinks milk.\n');
    await run('agents update second --name Other');
    const refused = await run(`import ${path} --as second`);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /would overwrite the agent second/);
    assert.match((await run(`import ${path} --as second --replace`)).stdout, /^second is replaced: 0 doc/);
  });

  test('say what is wrong with a file that is none, and with an agent that is not there', async () => {
    const path = join(folder, 'other.json');
    await writeFile(path, '{}');
    const none = await run(`import ${path}`);
    assert.equal(none.code, 2);
    assert.match(none.stderr, /is no export of an agent/);
    const missing = await run('export nobody');
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /no agent with this key/);
  });
});
