/** DE-2: which words of a result can be files of its agent's workspace. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { namedFiles } from '#domain/files/named-files.ts';

describe('DE-2 files that a result names', () => {
  it('are its words with an extension or a folder, each once, without the marks around them', () => {
    const text =
      'I wrote **report.md** and [the data](out/data.csv), see `notes/last year.txt`; also ./report.md. Is it in src/main? Done!';
    assert.deepEqual(namedFiles(text), ['report.md', 'out/data.csv', 'notes/last year.txt', 'src/main']);
  });

  it('are never paths that lead out of the workspace, nor addresses', () => {
    const text =
      '/etc/passwd ~/.ssh/id ../other/a.txt a/../../b.txt https://x.test/a.md -rf/x.md //double/a.md a//b.md';
    assert.deepEqual(namedFiles(text), []);
  });

  it('are bounded in number and length', () => {
    const many = Array.from({ length: 200 }, (_, n) => `f${n}.txt`).join(' ');
    assert.equal(namedFiles(many).length, 50);
    assert.deepEqual(namedFiles(`${'x'.repeat(400)}.txt`), []);
  });
});
