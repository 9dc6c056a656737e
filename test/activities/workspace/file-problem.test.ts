/** Errors around a file that are not of the file (F5). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileProblem } from '#activities/workspace/file-problem.ts';

const errorOf = (code: string, syscall: string): Error => Object.assign(new Error(code), { code, syscall });

test('F5 a Postgres that is away is no problem of the file, so that the call may run again', () => {
  const away = errorOf('ECONNREFUSED', 'connect');
  assert.throws(
    () => fileProblem(away, 'failed to open folder', '.'),
    (error) => error === away,
  );
});

test('a file that is not there is one', () => {
  assert.equal(fileProblem(errorOf('ENOENT', 'open'), 'failed to read file', 'a').name, 'FileProblem');
});
