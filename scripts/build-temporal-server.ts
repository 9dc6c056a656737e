/**
 * Builds a Temporal server as production has it from its Go module: `node scripts/build-temporal-server.ts FOLDER`. It takes Go
 * and some minutes; `TEST_TEMPORAL_SERVER=FOLDER npm run test:system` then runs the system tests on it.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The newest whose module builds by itself. */
const VERSION = 'v1.29.1';
/** Programs by the name of their package's folder, which is what Go calls them. */
const PROGRAMS = { server: 'temporal-server', sql: 'temporal-sql-tool' } as const;
const PACKAGES = { server: 'cmd/server', sql: 'cmd/tools/sql' } as const;

const [given] = process.argv.slice(2);
if (given === undefined) {
  console.error('Say where to: node scripts/build-temporal-server.ts FOLDER');
  process.exit(2);
}
const folder = resolve(given);
mkdirSync(folder, { recursive: true });
for (const name of ['server', 'sql'] as const) {
  const { status, error } = spawnSync(
    'go',
    ['install', `go.temporal.io/server/${PACKAGES[name]}@${VERSION}`],
    {
      env: { ...process.env, GOBIN: folder },
      stdio: 'inherit',
    },
  );
  if (error ?? status !== 0) {
    console.error(`${PROGRAMS[name]} could not be built: ${error?.message ?? 'see above'}. Is Go there?`);
    process.exit(1);
  }
  renameSync(join(folder, name), join(folder, PROGRAMS[name]));
}
console.log(`TEST_TEMPORAL_SERVER=${folder}`);
