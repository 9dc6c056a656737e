/** What a page loads of it. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

test('it has at most 12 kB (gzip) in a page, with all that it imports and no module of Node', async () => {
  const entry = fileURLToPath(new URL('../src/client.ts', import.meta.url));
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: { write: false, target: 'es2022', lib: { entry, formats: ['es'], fileName: 'client' } },
  });
  const [first] = [built].flat();
  assert.ok(first && 'output' in first);
  const { output } = first;
  assert.equal(output.length, 1);
  const { code } = output[0];
  assert.ok(gzipSync(code).length <= 12 * 1024, `${gzipSync(code).length} bytes`);
  assert.doesNotMatch(code, /\bimport\s|\brequire\(|node:|__vite-browser-external/);
  assert.match(code, /Unreachable/);
});
