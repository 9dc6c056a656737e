/**
 * Kills every process at once, as when a machine's memory is exhausted, under a parent that adopts orphans and never
 * reaps them, as PID 1 of many containers does. Also kills the `up` alone, with its list of processes damaged: what is
 * left must be found without it.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'node:test';
import { childEnvironment } from '#config';
import type { RunInfo } from '#cli/run-state.ts';
import { eventually, runningWith } from '#test/support/processes.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 1);
const BIN = fileURLToPath(new URL('../../bin/tempoclaw.js', import.meta.url));

/** PR_SET_CHILD_SUBREAPER is 36. It starts the command once more for each line that it reads. */
const CARELESS_PARENT = `
import ctypes, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
kept = []
for line in sys.stdin:
    kept.append(subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL))
`;

const skip = process.platform === 'linux' ? false : 'only Linux has subreapers';

describe('F2 everything is killed at once', { skip, timeout: 600_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tempoclaw-kill-'));
  // As root, Postgres runs as another user and must be able to pass through.
  chmodSync(folder, 0o711);
  const state = join(folder, 'state');
  const chance = createChance(seedOfRun());
  let parent: ChildProcess;
  let output = '';
  before(() => {
    const env = childEnvironment({
      TEMPOCLAW_PORT: '0',
      TEMPOCLAW_SANDBOX: 'off',
      TEMPOCLAW_TEMPORAL_PORT: '0',
      TEMPOCLAW_TEMPORAL_UI_PORT: '0',
      TEMPOCLAW_DATABASE_PORT: '0',
      TEMPORAL_ADDRESS: undefined,
      DATABASE_URL: undefined,
    });
    const up = [process.execPath, BIN, 'up', '--state-dir', state];
    parent = spawn('python3', ['-c', CARELESS_PARENT, ...up], {
      cwd: folder,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    for (const stream of [parent.stdout, parent.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
  });
  after(async () => {
    const { up } = readRun()?.pids ?? {};
    if (up !== undefined) process.kill(up, 'SIGTERM');
    await eventually(() => readRun() === undefined);
    parent.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });

  function readRun(): RunInfo | undefined {
    const file = join(state, 'run.json');
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as RunInfo) : undefined;
  }

  async function start(): Promise<RunInfo> {
    output = '';
    parent.stdin?.write('start\n');
    const isOver = () => output.includes('Ctrl-C ends everything') || output.includes('✘');
    assert.ok(await eventually(isOver, 180_000), output);
    assert.match(output, /TempoClaw is up/);
    return readRun() ?? assert.fail('no run.json');
  }

  async function answers(run: RunInfo, session: string): Promise<void> {
    const key = readFileSync(run.api_key_file, 'utf8').trim();
    const response = await fetch(`${run.api}/v1/sessions/${session}/messages?wait=60`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'list files' }),
    });
    assert.equal(((await response.json()) as { status: string }).status, 'completed');
  }

  it(`${ROUNDS} times, in any order: each start after it comes up, on what was there`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    let run = await start();
    for (let round = 0; round < ROUNDS; round += 1) {
      await answers(run, `before-${round}`);
      const pids = Object.values(run.pids).sort(() => chance.between(0, 2) - 1);
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      run = await start();
      await answers(run, `before-${round}`);
    }
  });

  it('an `up` alone: all that it left is ended first', async () => {
    const old = readRun() ?? assert.fail('it does not run');
    process.kill(old.pids['up'] ?? assert.fail('no up'), 'SIGKILL');
    await answers(await start(), 'after');
    assert.equal(runningWith(join(state, 'temporal.db')).length, 1);
    for (const part of ['api', 'worker', 'temporal'])
      assert.match(output, new RegExp(`${part} \\(pid ${old.pids[part]}\\)`));
  });
});
