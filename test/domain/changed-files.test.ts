/** DU-2: which files a call has changed, by its row. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ANY_FILE, changedFiles, recordedFiles } from '#domain/files/changed-files.ts';

const row = {
  tool: 'exec',
  args: {},
  custom_tool_id: null,
  ok: true,
  code: null,
  changed_files: null,
  started_at: new Date(0),
};

describe('DU-2 the files that a call has changed', () => {
  it('are those of its record, unless it says that any may be', () => {
    assert.deepEqual(changedFiles({ ...row, changed_files: ['a', 'b/c'] }), ['a', 'b/c']);
    assert.deepEqual(changedFiles({ ...row, changed_files: [] }), []);
    assert.equal(changedFiles({ ...row, changed_files: ['a', ANY_FILE] }), null);
  });

  it('are known to nobody when a command was lost, whatever its tool', () => {
    const lost = { ...row, ok: false, code: 'OutcomeUnknown' };
    assert.equal(changedFiles(lost), null);
    assert.equal(changedFiles({ ...lost, tool: 'write_file', args: { path: 'a' } }), null);
    assert.equal(changedFiles({ ...lost, tool: 'create_image' }), null);
    const running = { ...row, ok: null };
    assert.equal(changedFiles(running), null);
    assert.equal(changedFiles({ ...running, tool: 'deploy', custom_tool_id: 'id' }), null);
    assert.deepEqual(changedFiles({ ...running, started_at: null }), []);
  });

  it('are the file that the arguments name, when it was written', () => {
    const write = { ...row, tool: 'write_file', args: { path: 'a' } };
    assert.deepEqual(changedFiles(write), ['a']);
    assert.deepEqual(changedFiles({ ...write, ok: false, code: 'PermissionDenied' }), []);
    assert.deepEqual(changedFiles({ ...write, tool: 'read_file' }), []);
  });

  it('are recorded where the arguments do not name them, and within bounds', () => {
    assert.equal(recordedFiles('edit', ['a']), undefined);
    assert.deepEqual(recordedFiles('exec', ['b', 'a']), ['a', 'b']);
    assert.deepEqual(recordedFiles('exec', ['a', ANY_FILE]), [ANY_FILE]);
    assert.deepEqual(recordedFiles('exec', ['x'.repeat(9_000)]), [ANY_FILE]);
  });
});
