/**
 * docker-compose.yml as Compose reads it and runs it, with the installed one of `docker compose` and `docker-compose`.
 */
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const LIMITS = { timeout: 600_000, maxBuffer: 16 * 1_048_576 };

/** The words of its command, or undefined if there is none. */
export function findCompose(): readonly string[] | undefined {
  return [['docker', 'compose'], ['docker-compose']].find(
    ([name = '', ...args]) => spawnSync(name, [...args, 'version']).status === 0,
  );
}

export interface Project {
  /** Runs Compose in the folder; resolves with its output. Throws, with its output, when it fails. */
  compose(...args: readonly string[]): Promise<string>;
  docker(...args: readonly string[]): Promise<string>;
  /** Ids of a service's running containers. */
  containers(service: string): Promise<readonly string[]>;
  /** Adds another file on top of docker-compose.yml. */
  add(file: string): void;
}

/** `.env` in the folder contains the settings. */
export function openProject(options: {
  readonly name: string;
  readonly folder: string;
  readonly engine: string;
  readonly env: Readonly<Record<string, string>>;
}): Project {
  const [program = '', ...words] = findCompose() ?? [];
  const files = ['docker-compose.yml'];
  const env = { ...options.env, DOCKER_HOST: options.engine, DOCKER_BUILDKIT: '0' };
  const started = async (command: string, args: readonly string[]): Promise<string> =>
    (await run(command, args, { cwd: options.folder, env, ...LIMITS })).stdout;
  const compose: Project['compose'] = (...args) =>
    started(program, [...words, '-p', options.name, ...files.flatMap((file) => ['-f', file]), ...args]);
  return {
    compose,
    docker: (...args) => started('docker', args),
    containers: async (service) => {
      const ids = (await compose('ps', '--quiet', service)).split('\n').filter((id) => id !== '');
      const running = (await started('docker', ['ps', '--quiet', '--no-trunc'])).split('\n');
      return ids.filter((id) => running.includes(id));
    },
    add: (file) => void files.push(file),
  };
}
