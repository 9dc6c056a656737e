/**
 * Builds a production-like Temporal server from its Go module: `npx node scripts/build-temporal-server.ts [FOLDER]`.
 * Without a folder, it builds once, in the user's cache. It needs Go and some minutes. `TEST_TEMPORAL_SERVER=FOLDER npm
 * run test:system` then runs the system tests on it. Its standard output contains only the folder.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { userCacheDir } from '#config';

/** docker-compose.yml says which version production has. */
const compose = readFileSync(new URL('../docker-compose.yml', import.meta.url), 'utf8');
const VERSION = `v${/temporalio\/server:(\S+)/.exec(compose)?.[1]}`;
/** Programs by their package; Go names each program after its package's folder. */
const PROGRAMS = { 'cmd/server': 'temporal-server', 'cmd/tools/sql': 'temporal-sql-tool' };

const [value] = process.argv.slice(2);
const folder = value === undefined ? join(userCacheDir(), `temporal-server-${VERSION}`) : resolve(value);
mkdirSync(folder, { recursive: true });
for (const [source, name] of Object.entries(PROGRAMS)) {
  const program = join(folder, name);
  if (value === undefined && existsSync(program)) continue;
  const { status, error } = spawnSync('go', ['install', `go.temporal.io/server/${source}@${VERSION}`], {
    env: { ...process.env, GOBIN: folder },
    stdio: ['ignore', 2, 2],
  });
  if (error ?? status !== 0) {
    console.error(`${name} could not be built: ${error?.message ?? 'see above'}. Is Go there?`);
    process.exit(1);
  }
  // Only a complete program gets its final name.
  renameSync(join(folder, basename(source)), program);
}
console.log(folder);
