/** A lock that would fail on another platform, or warn on an older Node, is reported by the name of what is wrong. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';

const SCRIPT = new URL('../../scripts/check-lock.ts', import.meta.url).pathname;

function checked(
  packages: Readonly<Record<string, unknown>>,
  flags: readonly string[] = [],
  files: Readonly<Record<string, string>> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'tempoclaw-lock-'));
  try {
    const lock = join(folder, 'package-lock.json');
    writeFileSync(lock, JSON.stringify({ lockfileVersion: 3, packages }));
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ allowScripts: { native: true } }));
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, folder, ...flags], { encoding: 'utf8' });
    return { status, said: stderr, after: JSON.parse(readFileSync(lock, 'utf8')).packages as unknown };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const parser = {
  version: '1.0.0',
  optionalDependencies: { 'parser-linux': '1.0.0', 'parser-darwin': '1.0.0' },
};

describe('the lock of packages', () => {
  it('has an entry for each platform, beside its package or above it', () => {
    const packages = {
      '': {},
      'node_modules/a/node_modules/parser': parser,
      'node_modules/a/node_modules/parser-linux': { optional: true },
      'node_modules/parser-darwin': { optional: true },
    };
    assert.equal(checked(packages).status, 0);
    const { 'node_modules/parser-darwin': _, ...without } = packages;
    const { status, said } = checked(without);
    assert.equal(status, 1);
    assert.match(said, /^parser: parser-darwin@1\.0\.0 is missing/);
    assert.doesNotMatch(said, /parser-linux/);
  });

  it('names no registry, and each install script is allowed or denied', () => {
    const { status, said } = checked({
      '': {},
      'node_modules/native': { hasInstallScript: true },
      'node_modules/other': { hasInstallScript: true, resolved: 'https://registry.test/other.tgz' },
    });
    assert.equal(status, 1);
    assert.match(said, /^other: names where it was fetched from\nother: has an install script/);
    assert.doesNotMatch(said, /native/);
  });

  it('links lead to folders of packages/', () => {
    const { status, said } = checked({
      '': {},
      'node_modules/@x/own': { resolved: 'packages/own', link: true },
      'node_modules/@x/other': { resolved: '../other', link: true },
      'packages/own': {},
    });
    assert.equal(status, 1);
    assert.equal(said, '@x/other: links to ../other, which is no folder of packages/\n');
  });

  it('an install script that is allowed fetches nothing', () => {
    const lock = { '': {}, 'node_modules/native': { hasInstallScript: true } };
    const script = (command: string, text: string) =>
      checked(lock, [], {
        'node_modules/native/package.json': JSON.stringify({ scripts: { preinstall: command } }),
        'node_modules/native/setup.js': text,
      });
    for (const [command, text] of [
      ['npm install --no-save native-linux', ''],
      ['node setup', "spawn('npm', ['install', name])"],
      ['node setup.js', "require('https').get(url)"],
      ['node ./setup.js', 'await fetch(url)'],
    ] as const)
      assert.match(script(command, text).said, /^native: its install script fetches/, command + text);
    assert.equal(script('node setup.js', "fs.symlinkSync('a', 'b') // as npm unpacks none").status, 0);
  });

  it('states no engines but the project’s own; --write takes them out', () => {
    const packages = { '': { engines: { node: '>=20' } }, 'node_modules/ai': { engines: { node: '>=22' } } };
    assert.match(checked(packages).said, /^1 packages state engines/);
    const { status, after } = checked(packages, ['--write']);
    assert.deepEqual([status, after], [0, { '': { engines: { node: '>=20' } }, 'node_modules/ai': {} }]);
  });
});
