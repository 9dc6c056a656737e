/**
 * One Temporal dev server, one Postgres and one container engine for a whole test run, as node's global setup. Tests
 * find them in TEST_TEMPORAL_ADDRESS, TEST_DATABASE_URL and TEST_DOCKER_HOST. Only what TEST_SERVERS names is started,
 * and existing addresses are used as they are. TEST_DATABASE_TEMPLATE is a database with the schema, to be copied.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childEnvironment, userCacheDir } from '#config';
import { OWN_POSTGRES } from '#features/local/own-servers.ts';
import { startPostgres } from '@tempoclaw/dev-services';
import { findEngine } from './container-engine.ts';
import { startTestTemporal } from './test-temporal.ts';
import { createTemplate } from './test-database.ts';

const stops: (() => Promise<void>)[] = [];

/** Starts what is missing. Both servers keep nothing: their folder is removed at the end. */
export async function globalSetup(): Promise<void> {
  const env = childEnvironment({});
  const cacheDir = userCacheDir();
  const stateDir = await mkdtemp(join(tmpdir(), 'tempoclaw-test-'));
  // As root, Postgres runs as another user and must be able to pass through.
  await chmod(stateDir, 0o711);
  stops.push(() => rm(stateDir, { recursive: true, force: true }));
  // Both are awaited before anything is undone, so that neither is left running.
  const needed = (process.env['TEST_SERVERS'] ?? 'TEST_TEMPORAL_ADDRESS TEST_DATABASE_URL').split(' ');
  const place = { stateDir, cacheDir, env };
  const started = await Promise.allSettled([
    needed.includes('TEST_DATABASE_URL') && prepareDatabase(place),
    needed.includes('TEST_TEMPORAL_ADDRESS') &&
      (process.env['TEST_TEMPORAL_ADDRESS'] || startTemporal(place)),
    needed.includes('TEST_DOCKER_HOST') && (process.env['TEST_DOCKER_HOST'] || startEngine()),
  ]);
  const failed = started.find((one) => one.status === 'rejected');
  if (failed !== undefined) {
    await globalTeardown();
    throw failed.reason;
  }
}

interface Place {
  readonly stateDir: string;
  readonly cacheDir: string;
  readonly env: Readonly<Record<string, string>>;
}

async function prepareDatabase(place: Place): Promise<void> {
  process.env['TEST_DATABASE_URL'] ||= await startDatabase(place);
  const template = await createTemplate(process.env['TEST_DATABASE_URL']);
  stops.unshift(template.drop);
  process.env['TEST_DATABASE_TEMPLATE'] = template.name;
}

async function startDatabase(place: Place): Promise<string> {
  const postgres = await startPostgres({ ...OWN_POSTGRES, ...place, port: 0, durable: false });
  stops.unshift(() => postgres.stop());
  return postgres.url;
}

async function startTemporal(place: Place): Promise<void> {
  const temporal = await startTestTemporal(place);
  stops.unshift(() => temporal.stop());
  process.env['TEST_TEMPORAL_ADDRESS'] = temporal.address;
}

/** If there is none, the tests that need it say so themselves. */
async function startEngine(): Promise<void> {
  const found = await findEngine();
  if (!('engine' in found)) return;
  stops.unshift(() => found.engine.stop());
  process.env['TEST_DOCKER_HOST'] = found.engine.address;
}

/** Ends what globalSetup started, servers first. */
export async function globalTeardown(): Promise<void> {
  for (const stop of stops.splice(0)) await stop();
}
