/** VF-4: a setting closes paths of workspaces, for file tools and commands alike. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startLiveWorker } from '#test/support/live-worker.ts';

describe('VF-4 denied paths are a setting', () => {
  test('they are neither written, read, listed, searched nor named by a command; the state folder stays closed', async () => {
    const worker = await startLiveWorker({ settings: 'tools:\n  denied_paths: [vault]\n' });
    try {
      const lines = [
        'write_file {"path":"open.txt","content":"word"}',
        'write_file {"path":".goclaw/x","content":"word"}',
        'write_file {"path":"vault/x","content":"word"}',
        'read_file {"path":"vault/x"}',
        'read_file {"path":".tempoclaw/x"}',
        'exec {"command":"cat vault/x"}',
        'exec {"command":"mkdir vault && echo word"}',
      ];
      const { turn_id } = await worker.say('denied', lines.join('\n'));
      await worker.ended(turn_id);
      const calls = await worker.calls(turn_id);
      const codes = calls.map(({ code, ok }) => (ok ? 'ok' : code));
      const denied = 'PermissionDenied';
      assert.deepEqual(codes, ['ok', 'ok', denied, denied, denied, denied, denied]);
      assert.match(calls[3]?.result ?? '', /vault\/x is among the paths that no tool may reach$/);
    } finally {
      await worker.close();
    }
  });
});
