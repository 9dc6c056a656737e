/** A Temporal dev server that keeps nothing: that of a test run, or one of a test with limits of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OWN_TEMPORAL } from '#features/local/own-servers.ts';
import { childEnvironment, commandFolders, userCacheDir } from '#config';
import { obtainTemporalBinary, startTemporalServer } from '@tempoclaw/dev-services';

export interface TestTemporalPlace {
  readonly stateDir: string;
  readonly cacheDir: string;
  readonly env: Readonly<Record<string, string>>;
}

/** `dynamicConfig` is `key=value`. */
export async function startTestTemporal(
  { stateDir, cacheDir, env }: TestTemporalPlace,
  dynamicConfig: readonly string[] = [],
): ReturnType<typeof startTemporalServer> {
  const { path } = await obtainTemporalBinary({ cacheDir, env, folders: commandFolders() });
  return startTemporalServer({
    ...OWN_TEMPORAL,
    binary: path,
    stateDir,
    // A third of its work was collecting memory, and letting idle threads look for work.
    env: { ...env, GOGC: '800', GOMAXPROCS: '1' },
    namespace: 'default',
    port: 0,
    uiPort: 0,
    ui: false,
    inMemory: true,
    dynamicConfig,
  });
}

/** A server of one test. */
export async function startTemporalWith(
  dynamicConfig: readonly string[],
): Promise<{ readonly address: string; stop(): Promise<void> }> {
  const stateDir = await mkdtemp(join(tmpdir(), 'tempoclaw-temporal-'));
  const place = { stateDir, cacheDir: userCacheDir(), env: childEnvironment({}) };
  const server = await startTestTemporal(place, dynamicConfig);
  return {
    address: server.address,
    async stop() {
      await server.stop();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}
