/** workspace_dir returns the path of the workspace. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tool } from '#activities/tools/other/workspace-dir.ts';
import { toolBench } from '#test/support/tool-call.ts';

test('TL workspace_dir names the folder that tools work in', async (t) => {
  const bench = await toolBench(t);
  assert.deepEqual(await bench.run(tool, {}), { ok: true, text: bench.workspace });
});
