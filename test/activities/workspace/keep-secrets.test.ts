/** SC-2: a model that writes back what it saw of a file does not destroy the secret in it. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { registerValues } from '@tempoclaw/scrubber';
import { createScrubber } from '#store/secrets/scrubber.ts';
import { tool as edit } from '#activities/tools/fs/edit.ts';
import { tool as writeFileTool } from '#activities/tools/fs/write-file.ts';
import { toolBench } from '#test/support/tool-call.ts';

const scrubber = createScrubber(registerValues(['a-registered-value-77']));
const call = { hasSecret: (text: string) => scrubber.text(text) !== text };
const ENV = 'HOST=example.org\nPASS_PHRASE_X: a-registered-value-77\nDEBUG=0\n';

async function benchWith(t: TestContext, content: string) {
  const bench = await toolBench(t);
  const path = join(bench.workspace, 'settings');
  await mkdir(bench.workspace, { recursive: true });
  await writeFile(path, content);
  return { bench, kept: () => readFile(path, 'utf8') };
}

describe('SC-2 writing a file back with [REDACTED] in it', () => {
  test('is refused with the reason, and the file stays', async (t) => {
    const { bench, kept } = await benchWith(t, ENV);
    const shown = scrubber.text(ENV).replace('DEBUG=0', 'DEBUG=1');
    assert.match(shown, /\[REDACTED\]/);
    const refused = await bench.run(writeFileTool, { path: 'settings', content: shown }, call);
    assert.ok(!refused.ok && refused.code === 'InvalidArgs');
    assert.match(refused.message, /settings has a secret that was hidden from you/);
    assert.equal(await kept(), ENV);
  });

  test('as an edit is refused too; an edit beside the secret is done', async (t) => {
    const { bench, kept } = await benchWith(t, ENV);
    const request = { path: 'settings', old_string: 'DEBUG=0', new_string: 'TOKEN=[REDACTED]\nDEBUG=1' };
    assert.ok(!(await bench.run(edit, request, call)).ok);
    const beside = { path: 'settings', old_string: 'DEBUG=0', new_string: 'DEBUG=1' };
    assert.ok((await bench.run(edit, beside, call)).ok);
    assert.equal(await kept(), ENV.replace('DEBUG=0', 'DEBUG=1'));
  });

  test('an edit that looks for the placeholder is told what it stands for', async (t) => {
    const { bench } = await benchWith(t, ENV);
    const request = { path: 'settings', old_string: 'PASS_PHRASE_X: [REDACTED]', new_string: 'x' };
    const refused = await bench.run(edit, request, call);
    assert.ok(!refused.ok && /stands for a secret that is hidden from you/.test(refused.message));
  });

  test('a file without a secret may say [REDACTED], as may one that said it before, and a new one', async (t) => {
    const { bench, kept } = await benchWith(t, 'Scrubbed values read so.\n');
    const content = 'Scrubbed values read [REDACTED].\n';
    assert.ok((await bench.run(writeFileTool, { path: 'settings', content }, call)).ok);
    assert.equal(await kept(), content);
    const made = await bench.run(writeFileTool, { path: 'new', content }, call);
    assert.ok(made.ok && /stands for no value/.test(made.text));
    await writeFile(join(bench.workspace, 'settings'), `${ENV}[REDACTED]\n`);
    const fewer = { path: 'settings', old_string: 'HOST=example.org', new_string: 'HOST=other.org' };
    assert.ok((await bench.run(edit, fewer, call)).ok);
  });
});
