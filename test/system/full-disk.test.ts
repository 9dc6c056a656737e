/** Everything on a small file system that becomes full while turns run, and has space again later. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'node:test';
import { childEnvironment } from '#config';
import type { RunInfo } from '#cli/run-state.ts';
import { eventually } from '#test/support/processes.ts';

const BIN = fileURLToPath(new URL('../../bin/tempoclaw.js', import.meta.url));
const TURNS = 12;

interface Answer {
  readonly status: number;
  // Answers have every shape.
  readonly body: any;
}

const folder = mkdtempSync(join(tmpdir(), 'tempoclaw-full-'));
// As root, Postgres runs as another user and must be able to pass through.
chmodSync(folder, 0o711);
const disk = join(folder, 'disk');
mkdirSync(disk);
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=200m,mode=755', 'tempoclaw', disk]);
const skip = mounted.status === 0 ? false : 'a file system cannot be mounted here: it needs root';

describe('F3 the disk is full', { skip, timeout: 600_000 }, () => {
  const state = join(disk, 'state');
  const filler = join(disk, 'filler');
  let output = '';
  let up: ReturnType<typeof spawn>;
  before(async () => {
    const env = childEnvironment({
      TEMPOCLAW_PORT: '0',
      TEMPOCLAW_SANDBOX: 'off',
      TEMPOCLAW_TEMPORAL_PORT: '0',
      TEMPOCLAW_TEMPORAL_UI_PORT: '0',
      TEMPOCLAW_DATABASE_PORT: '0',
      TEMPORAL_ADDRESS: undefined,
      DATABASE_URL: undefined,
    });
    up = spawn(process.execPath, [BIN, 'up', '--state-dir', state], { cwd: folder, env, stdio: 'pipe' });
    for (const stream of [up.stdout, up.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    assert.ok(await eventually(() => output.includes('Ctrl-C ends everything'), 180_000), output);
  });
  after(async () => {
    rmSync(filler, { force: true });
    if (up.exitCode === null) {
      const ended = new Promise((resolve) => up.once('exit', resolve));
      up.kill('SIGTERM');
      await ended;
    }
    spawnSync('umount', [disk]);
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (): RunInfo => JSON.parse(readFileSync(join(state, 'run.json'), 'utf8')) as RunInfo;

  async function ask(method: string, path: string, text?: string): Promise<Answer> {
    const key = readFileSync(run().api_key_file, 'utf8').trim();
    const response = await fetch(`${run().api}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(text === undefined ? {} : { body: JSON.stringify({ text }) }),
    });
    return { status: response.status, body: await response.json() };
  }

  /** Undefined while nothing answers. */
  const ready = (): Promise<Answer | undefined> => ask('GET', '/readyz').catch(() => undefined);

  /** The last output of each part. */
  function readLogs(): string {
    const logs = join(state, 'logs');
    return readdirSync(logs)
      .map((name) => `\n${name}:\n${readFileSync(join(logs, name), 'utf8').slice(-2_000)}`)
      .join('');
  }

  function fill(): void {
    const file = openSync(filler, 'a');
    const block = Buffer.alloc(4_096);
    try {
      for (;;) writeSync(file, block);
    } catch {
      // The disk is full.
    } finally {
      closeSync(file);
    }
  }

  it('no process of ours ends of it, /readyz says so, and with room again all goes on by itself', async (t) => {
    assert.deepEqual((await ready())?.body, {
      status: 'ok',
      postgres: 'ok',
      temporal: 'ok',
      state_folder: 'ok',
    });
    const { up: first } = run().pids;
    const accepted = new Set<string>();
    for (let n = 0; n < TURNS; n += 1) {
      const { status, body } = await ask('POST', `/v1/sessions/full-${n}/messages`, 'list files');
      // Once it is full, a message is accepted and stored, or refused as one that may be sent again.
      assert.ok(status === 202 || (status === 503 && n > TURNS - 4), JSON.stringify(body));
      if (status === 202) accepted.add(body.turn_id);
      if (n === TURNS - 4) fill();
    }
    fill();
    assert.equal(statfsSync(disk).bavail, 0);
    assert.ok(await eventually(async () => (await ready())?.body.status === 'full'), output);
    const full = await ready();
    assert.equal(full?.status, 503);
    assert.match(full?.body.detail, /disk is full/);
    // Parts that end now have to return on a full disk, or as soon as it has space.
    for (const part of ['worker', 'api', 'postgres', 'temporal']) {
      const pid = run().pids[part];
      if (pid !== undefined && existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      fill();
    }
    assert.equal(up.exitCode, null, output);

    rmSync(filler);
    const isWell = await eventually(async () => (await ready())?.status === 200, 120_000);
    assert.ok(isWell, output + readLogs());
    assert.equal(run().pids['up'], first);
    const after = await ask('POST', '/v1/sessions/after/messages?wait=60', 'list files');
    assert.equal(after.body.status, 'completed', JSON.stringify(after.body));
    for (const turn of accepted) {
      const isOver = await eventually(
        async () => (await ask('GET', `/v1/turns/${turn}`)).body.status === 'completed',
      );
      assert.ok(isOver, turn);
    }
    t.diagnostic(output.slice(output.indexOf('Ctrl-C ends everything')));
  });
});
