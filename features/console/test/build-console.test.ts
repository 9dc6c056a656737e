/** IN-7: the console is built when its sources are newer than its files; what prevents that is said, and stops nothing. */
import assert from 'node:assert/strict';
import { appendFile, cp, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildConsole } from '../build-console.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

test('IN-7 the console is built when it is missing or old, and says why it is not', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'tempoclaw-build-'));
  t.after(() => rm(root, { recursive: true }));
  const without = (source: string): boolean => !source.endsWith('/dist');
  await cp(join(ROOT, 'console'), join(root, 'console'), { recursive: true, filter: without });
  for (const file of ['tsconfig.json', 'package.json', 'package-lock.json'])
    await cp(join(ROOT, file), join(root, file));
  assert.match(await buildConsole(root), /^not built: run `npm install` with its development packages/);

  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  assert.equal(await buildConsole(root), 'built');
  const files = await readdir(join(root, 'console/dist/assets'));
  assert.ok(
    files.some((name) => /^index-[\w-]+\.js$/.test(name)),
    files.join(),
  );
  assert.equal(await buildConsole(root), 'up to date');

  const main = join(root, 'console/src/main.tsx');
  const later = new Date(Date.now() + 60_000);
  await utimes(main, later, later);
  assert.equal(await buildConsole(root), 'built');
  await appendFile(main, 'this is no TypeScript');
  assert.match(await buildConsole(root), /^not built: .*Expected.*; `npm run build:console` says more$/);
  // As large as no phone should load.
  const words = Array.from({ length: 60_000 }, (_, n) => (n * 2_654_435_761) % 4_294_967_296).join();
  await writeFile(main, `document.title = '${words}';`);
  assert.match(await buildConsole(root), /^not built: .*the first load has \d+ bytes, and may have 112640/);
});
