/** docker-compose.yml as Compose itself reads it, with the installed one of `docker compose` and `docker-compose`. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { findCompose } from '#test/support/compose.ts';
import { MODEL_VARIABLES } from '../../config/environment.ts';
import { cleanEnvironment } from './program.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SECRETS = { POSTGRES_PASSWORD: 'ge/heim@1#%:x', TEMPOCLAW_ENCRYPTION_KEY: 'a2V5' };

const compose = findCompose();
const skip =
  compose === undefined && process.env['CI'] !== 'true' ? 'neither docker compose nor docker-compose' : false;

describe('docker compose config', { skip }, () => {
  // A .env file of the person who runs the tests is not read.
  let empty: string;
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tempoclaw-compose-'));
    empty = join(folder, 'env');
    writeFileSync(empty, '');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function config(env: Readonly<Record<string, string>>): string {
    assert.ok(
      compose !== undefined,
      'with CI=true one of docker compose and docker-compose must be installed',
    );
    const [name = '', ...args] = compose;
    const file = ['--project-directory', ROOT, '-f', join(ROOT, 'docker-compose.yml')];
    return execFileSync(name, [...args, '--env-file', empty, ...file, 'config'], {
      encoding: 'utf8',
      env: cleanEnvironment(env),
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  it('accepts the file: API and workers apart, on a Temporal server with its UI and a Postgres', () => {
    const read = parse(config(SECRETS)) as {
      services: Record<
        string,
        { volumes?: (string | { source: string })[]; environment?: Record<string, string> }
      >;
    };
    assert.deepEqual(Object.keys(read.services).sort(), [
      'api',
      'postgres',
      'setup',
      'temporal',
      'temporal-namespace',
      'temporal-schema',
      'temporal-ui',
      'worker',
    ]);
    for (const { environment } of ['api', 'worker', 'setup'].map((name) => read.services[name] ?? {})) {
      assert.equal(environment?.['DATABASE_URL'], 'postgres://tempoclaw@postgres:5432/tempoclaw');
      assert.equal(environment?.['TEMPOCLAW_DATABASE_PASSWORD'], SECRETS.POSTGRES_PASSWORD);
    }
  });

  it('hands on each variable that makes a model provider, and none that is not set', () => {
    const input = Object.fromEntries(MODEL_VARIABLES.map((name) => [name, `value-of-${name}`]));
    const read = (env: Readonly<Record<string, string>>) =>
      (parse(config(env)) as { services: Record<string, { environment?: Record<string, string | null> }> })
        .services;
    const services = read({ ...SECRETS, ...input });
    const without = read(SECRETS);
    for (const service of ['api', 'worker'])
      for (const [name, value] of Object.entries(input)) {
        assert.equal(services[service]?.environment?.[name], value, `${service} ${name}`);
        assert.equal(without[service]?.environment?.[name] ?? undefined, undefined, `${service} ${name}`);
      }
  });

  it('every file that it mounts is in the repository', () => {
    const read = parse(config(SECRETS)) as {
      services: Record<string, { volumes?: (string | { source: string })[] }>;
    };
    const sources = Object.values(read.services)
      .flatMap(({ volumes = [] }) => volumes)
      .map((volume) => (typeof volume === 'string' ? (volume.split(':')[0] ?? '') : volume.source))
      .filter(isAbsolute);
    assert.ok(sources.length > 0);
    for (const source of sources) assert.ok(existsSync(source), source);
  });

  it('refuses to start without a password and a key, and says what to do', () => {
    assert.throws(() => config({}), /put (POSTGRES_PASSWORD|TEMPOCLAW_ENCRYPTION_KEY) into \.env/);
  });
});
