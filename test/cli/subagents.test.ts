/** IN-6: `tempoclaw subagents` against the whole stack. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';
import { runCli } from './support/run-cli.ts';

describe('IN-6 tempoclaw subagents', () => {
  let stack: Stack;
  let folder: string;
  before(async () => {
    stack = await startStack();
    folder = mkdtempSync(join(tmpdir(), 'tempoclaw-cli-'));
  });
  after(async () => {
    await stack.stop();
    rmSync(folder, { recursive: true });
  });

  const cli = (...args: string[]) =>
    runCli(['subagents', ...args], {
      url: stack.url,
      cwd: folder,
      env: { TEMPOCLAW_API_KEY: stack.key },
    });

  it('lists, shows, steers and stops', async () => {
    const task = 'hold {"note":"cli"}\nthen\nHeld.';
    const { turn_id } = await stack.worker.say(
      's',
      `spawn ${JSON.stringify({ task, label: 'count' })}\nthen\nOn it.`,
    );
    await stack.worker.ended(turn_id);
    await stack.worker.probes.untilHeld('cli');

    const list = await cli('list', 's', '--status', 'running');
    assert.match(
      list.stdout,
      /^SUBAGENT +STATUS +LABEL +CALLS +STARTED\nsub-[0-9a-f]{16} +running +count +0 /,
    );
    const id = /sub-\w+/.exec(list.stdout)?.[0] ?? '';
    const steered = await cli('steer', id, 'hold {"note":"cli-2"}');
    assert.match(steered.stdout, new RegExp(`^${id} is replaced by sub-`));
    const next = / by (sub-\w+)/.exec(steered.stdout)?.[1] ?? '';
    await stack.worker.probes.untilHeld('cli-2');
    assert.equal((await cli('stop', next, '--reason', 'enough')).stdout, `stop was sent to ${next}\n`);
    await stack.worker.until('its end', async () => {
      const { body } = await stack.ask('GET', `/v1/subagents/${next}`);
      return body.status === 'cancelled' ? body : undefined;
    });
    const shown = await cli('show', next, '--json');
    assert.equal(JSON.parse(shown.stdout).label, 'count (steered)');
    const late = await cli('stop', next);
    assert.notEqual(late.code, 0);
    assert.match(late.stderr, /is not running \(status=cancelled\)/);
  });
});
