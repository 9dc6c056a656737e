/** SC-1: the files of this repository contain no secret, and are left unchanged. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { scrubText } from '@tempoclaw/scrubber';

describe('SC-1 texts that hold no secret', () => {
  const root = new URL('../../../', import.meta.url);
  const folders = [
    'activities',
    'api',
    'cli',
    'config',
    'docs',
    'domain',
    'policy',
    'store',
    'temporal',
    'workers',
    'workflows',
  ];
  const files = folders.flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ts|md|sql)$/.test(name))
      .map((name) => `${folder}/${name}`),
  );
  const read = (name: string): string => readFileSync(new URL(name, root), 'utf8');

  test('the lock file, with its digests, is left alone', () => {
    for (const text of [read('package-lock.json'), JSON.stringify(read('package-lock.json'))])
      assert.deepEqual(scrubText(text).found, []);
  });

  test('this repository is left alone, but for one place in a hundred thousand letters', () => {
    let places = 0;
    let length = 0;
    for (const text of files.map(read)) {
      length += text.length;
      for (const form of [text, JSON.stringify(text)])
        for (const { count } of scrubText(form).found) places += count;
    }
    assert.ok(length > 1_000_000);
    assert.ok(places / 2 / length < 1 / 100_000, `${places / 2} places in ${length}`);
  });
});
