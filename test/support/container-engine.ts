/**
 * A real container engine for tests of boxes, with our image in it: TEST_DOCKER_HOST's, else one of the test file's
 * own, which needs root and dockerd. If there is none, tests are skipped with the reason; with CI=true, they fail.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MAKE_IMAGE, OWN_NAME } from '#activities/process/own-names.ts';
import { createBoxes, type Boxes, createEngine, createEngineProber } from '@tempoclaw/sandbox';

const run = promisify(execFile);
const scripts = fileURLToPath(new URL('../../docker/sandbox/', import.meta.url));

export interface TestEngine {
  readonly address: string;
  /** Only for the test's own engine. */
  start(): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<void>;
  stop(): Promise<void>;
}

export type FoundEngine = { readonly engine: TestEngine } | { readonly skip: string };

/** `own` means not the shared one, because the test ends it. `options` are dockerd's. */
export async function findEngine(own = false, options: readonly string[] = []): Promise<FoundEngine> {
  const shared = process.env['TEST_DOCKER_HOST'];
  const nothing = async (): Promise<void> => undefined;
  if (shared && !own) return { engine: { address: shared, start: nothing, kill: nothing, stop: nothing } };
  try {
    return { engine: await startEngine(options) };
  } catch (error) {
    if (process.env['CI'] === 'true') throw error;
    const { stderr, message } = error as Error & { stderr?: string };
    return { skip: `no container engine can be started here: ${(stderr || message).trim()}` };
  }
}

async function startEngine(options: readonly string[]): Promise<TestEngine> {
  if (process.geteuid?.() !== 0) throw new Error('only root can start one');
  // A socket's path has at most 107 bytes.
  const folder = await mkdtemp(join(tmpdir(), 'tcw-engine-'));
  const start = async (): Promise<string> => {
    const script = join(scripts, 'start-engine');
    return (await run('bash', [script, folder, ...options], { timeout: 60_000 })).stdout.trim();
  };
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    const pid = Number(await readFile(join(folder, 'docker.pid'), 'utf8'));
    process.kill(pid, signal);
    if (signal === 'SIGSTOP' || signal === 'SIGCONT') return;
    for (let tries = 0; tries < 300 && lives(pid); tries += 1) await sleep(100);
  };
  let address: string;
  try {
    address = await start();
    const env = { ...process.env, DOCKER_HOST: address };
    await run('bash', [join(scripts, 'make-image'), '--local'], { env, timeout: 60_000 });
  } catch (error) {
    await kill('SIGTERM').catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return {
    address,
    start: async () => void (await start()),
    kill,
    async stop() {
      await kill('SIGTERM').catch(() => undefined);
      await unmountBelow(folder);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** An engine that was killed leaves its mounts. */
async function unmountBelow(folder: string): Promise<void> {
  const points = (await readFile('/proc/mounts', 'utf8'))
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((point) => point.startsWith(`${folder}/`));
  for (const point of points.toReversed()) await run('umount', ['-l', point]);
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export interface EngineTests {
  /** Works as test, with the engine; skipped with the reason if there is none. */
  test(name: string, body: (t: TestContext, engine: TestEngine) => Promise<void>): void;
  stop(): Promise<void>;
}

export function engineTests(found: FoundEngine): EngineTests {
  const skip = 'skip' in found ? found.skip : false;
  return {
    test(name, body) {
      test(name, { skip }, (t) => body(t, (found as { engine: TestEngine }).engine));
    },
    stop: async () => ('engine' in found ? found.engine.stop() : undefined),
  };
}

/** Boxes as a worker has them, of an installation of the test's own; removed after it. */
export function testBoxes(
  t: Pick<TestContext, 'after'>,
  address: string,
  installation: string = `test-${crypto.randomUUID()}`,
): Boxes {
  t.after(() => removeBoxes(address, installation));
  return boxesAt(address, installation);
}

/** Does the same, but leaves them in place. */
export function boxesAt(address: string, installation = 'none'): Boxes {
  const engine = createEngine(address);
  return createBoxes({
    name: OWN_NAME,
    engine,
    prober: createEngineProber(engine, Date.now, MAKE_IMAGE),
    installation,
    life: { idleSeconds: 600, maxAgeSeconds: 3600 },
    now: Date.now,
  });
}

/** Removes every box of the installation, whatever its state. */
export async function removeBoxes(address: string, installation: string): Promise<void> {
  const engine = createEngine(address);
  const filters = { label: [`tempoclaw.sandbox=${installation}`] };
  const all = await engine.ask((docker) => docker.listContainers({ all: true, filters }));
  await Promise.all(
    all.map(({ Id }) =>
      engine
        .ask((docker) => docker.getContainer(Id).remove({ force: true }), 20_000)
        // It ended by itself in the meantime.
        .catch(() => undefined),
    ),
  );
}
