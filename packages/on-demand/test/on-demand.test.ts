import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { findPackage, packageFolder } from '../src/on-demand.ts';

const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };

describe('packages on demand', () => {
  const base = mkdtempSync(join(tmpdir(), 'on-demand-'));
  const locks = join(base, 'heavy');
  const archive = join(base, 'heavy-thing-1.2.3.tgz');
  /** A module that has no packages beside it. */
  const importer = pathToFileURL(join(base, 'main.js')).href;
  let caches = 0;
  const newCache = (): string => join(base, `cache-${(caches += 1)}`);

  before(() => {
    const source = join(base, 'source');
    mkdirSync(source);
    writeFileSync(
      join(source, 'package.json'),
      JSON.stringify({
        name: 'heavy-thing',
        version: '1.2.3',
        scripts: { install: 'touch scripts-have-run' },
      }),
    );
    writeFileSync(join(source, 'index.js'), 'module.exports = 42;\n');
    execFileSync('npm', ['pack', '--pack-destination', base], { cwd: source, stdio: 'ignore' });
    mkdirSync(locks);
    const pinned = { dependencies: { 'heavy-thing': `file:${archive}` }, config: { bytes: 5_000_000 } };
    writeFileSync(join(locks, 'package.json'), JSON.stringify(pinned));
    execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts'], {
      cwd: locks,
      stdio: 'ignore',
    });
  });
  after(() => rmSync(base, { recursive: true, force: true }));

  it('are installed once, without their scripts, and reported', async () => {
    const cacheDir = newCache();
    const reports: string[] = [];
    const options = { locks, cacheDir, env, onProgress: (text: string) => reports.push(text) };
    const folder = await packageFolder('heavy-thing', importer, options);
    assert.deepEqual(readdirSync(folder).toSorted(), ['index.js', 'package.json']);
    assert.match(reports.join('\n'), /installing heavy once: \d of 5 MB/);
    // Without npm, which is not needed a second time.
    assert.equal(await packageFolder('heavy-thing', importer, { ...options, env: { PATH: '' } }), folder);
  });

  it('are found beside the module that asks for them', async () => {
    const beside = join(base, 'beside');
    cpSync(join(base, 'source'), join(beside, 'node_modules/heavy-thing'), { recursive: true });
    const near = pathToFileURL(join(beside, 'main.js')).href;
    assert.equal(findPackage('heavy-thing', near), join(beside, 'node_modules/heavy-thing'));
    assert.equal(findPackage('heavy-thing', importer), undefined);
    const options = { locks: join(base, 'none'), cacheDir: newCache(), env };
    assert.equal(await packageFolder('heavy-thing', near, options), join(beside, 'node_modules/heavy-thing'));
  });

  it('are complete when several programs install them at the same time', async () => {
    const cacheDir = newCache();
    const folders = await Promise.all(
      Array.from({ length: 3 }, () => packageFolder('heavy-thing', importer, { locks, cacheDir, env })),
    );
    assert.equal(new Set(folders).size, 1);
    assert.equal(readdirSync(cacheDir).length, 1);
    assert.ok(existsSync(join(folders[0] ?? '', 'index.js')));
  });

  it('are refused, and leave nothing, when their digest is not the pinned one', async () => {
    const other = join(base, 'tampered');
    cpSync(locks, other, { recursive: true });
    const changed = join(base, 'changed');
    cpSync(join(base, 'source'), changed, { recursive: true });
    writeFileSync(join(changed, 'index.js'), 'module.exports = 43;\n');
    execFileSync('npm', ['pack', '--pack-destination', other], { cwd: changed, stdio: 'ignore' });
    for (const name of ['package.json', 'package-lock.json']) {
      const text = readFileSync(join(other, name), 'utf8');
      writeFileSync(
        join(other, name),
        text.replace(/file:[^"]*\.tgz/g, `file:${other}/heavy-thing-1.2.3.tgz`),
      );
    }
    const cacheDir = newCache();
    // npm's own cache has what is pinned.
    const empty = { ...env, npm_config_cache: join(base, 'npm-cache') };
    await assert.rejects(
      packageFolder('heavy-thing', importer, { locks: other, cacheDir, env: empty }),
      /could not be installed: .*EINTEGRITY/s,
    );
    assert.deepEqual(readdirSync(cacheDir), []);
  });

  it('say what is missing when there is no lock or no npm', async () => {
    const options = { locks, cacheDir: newCache(), env };
    await assert.rejects(
      packageFolder('heavy-thing', importer, { ...options, locks: base }),
      /run `npm install` again/,
    );
    await assert.rejects(
      packageFolder('heavy-thing', importer, { ...options, env: { PATH: '/none' } }),
      /npm was not found/,
    );
  });

  it('stop being installed when the caller stops', async () => {
    const cacheDir = newCache();
    const stopped = AbortSignal.abort(new Error('stopped'));
    await assert.rejects(
      packageFolder('heavy-thing', importer, { locks, cacheDir, env, signal: stopped }),
      /stopped/,
    );
    assert.deepEqual(readdirSync(cacheDir), []);
  });

  it('are installed by the example', async () => {
    const example = fileURLToPath(new URL('../examples/install.ts', import.meta.url));
    const args = [example, locks, 'heavy-thing', newCache()];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
    assert.ok(existsSync(join(stdout.trim(), 'index.js')));
    assert.match(stderr, /installing heavy once/);
  });
});
