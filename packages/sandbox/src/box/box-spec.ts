/**
 * The container specification for the engine. Pure: the same owner, workspace and settings give the same name, by which
 * every worker of the installation finds the container.
 */
import { createHash } from 'node:crypto';
import type { ContainerCreateOptions } from 'dockerode';
import { marksOf } from '../marks.ts';
import { keeperScript } from './box-scripts.ts';
import { type BoxSettings, DEFAULT_PATH, MOUNT } from '../settings/settings.ts';

/** The owner of a container. */
export interface BoxOwner {
  /** Owners with the same key, workspace and settings share a container. */
  readonly key: readonly string[];
  /** The containers of a group are ended together; absent without a group. */
  readonly group?: string | undefined;
  /** More labels, without the prefix. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Absolute path of the folder that the container shows at MOUNT. */
  readonly workspace: string;
}

export interface BoxLife {
  readonly idleSeconds: number;
  readonly maxAgeSeconds: number;
}

export interface BoxSpec {
  readonly name: string;
  readonly options: ContainerCreateOptions;
}

/** The label by which containers of an installation are found. */
export const installationLabel = (name: string, installation: string): string =>
  `${name}.sandbox=${installation}`;

/** The label of the containers of a group. */
export const groupLabel = (name: string, group: string): string => `${name}.group=${group}`;

/** In the engine's format; `image` is the id that the image's name had at the last check. */
export function boxSpec(parts: {
  /** Prefix of names and labels. */
  readonly name: string;
  readonly installation: string;
  readonly owner: BoxOwner;
  readonly sandbox: BoxSettings;
  readonly image: string;
  readonly runtime: 'runsc' | undefined;
  /** `uid:gid` of the workspace's files. */
  readonly user: string;
  readonly life: BoxLife;
}): BoxSpec {
  const { owner, sandbox, life } = parts;
  const { key, workspace, group, labels = {} } = owner;
  const keeper = keeperScript(marksOf(parts.name));
  const config = digest([sandbox, parts.image, parts.runtime, parts.user, workspace, life, keeper]);
  const name = `${parts.name}-${digest([parts.installation, key, config])}`;
  const all = {
    sandbox: parts.installation,
    ...labels,
    key: digest(key),
    config,
    ...(group === undefined ? {} : { group }),
  };
  return {
    name,
    options: {
      name,
      Image: parts.image,
      Entrypoint: ['/bin/sh', '-c', keeper, 'sandbox'],
      Cmd: [String(life.idleSeconds), String(life.maxAgeSeconds)],
      User: parts.user,
      WorkingDir: '/',
      Hostname: 'sandbox',
      Env: Object.entries(BOX_ENVIRONMENT).map(([variable, value]) => `${variable}=${value}`),
      Labels: Object.fromEntries(
        Object.entries(all).map(([label, value]) => [`${parts.name}.${label}`, value]),
      ),
      AttachStdin: false,
      AttachStdout: false,
      AttachStderr: false,
      OpenStdin: false,
      Tty: false,
      Healthcheck: { Test: ['NONE'] },
      HostConfig: {
        AutoRemove: true,
        ReadonlyRootfs: true,
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges:true'],
        Privileged: false,
        IpcMode: 'private',
        NetworkMode: sandbox.network ? 'bridge' : 'none',
        PidsLimit: sandbox.pids,
        Memory: sandbox.memoryBytes,
        // The same as Memory, so that there is no swap.
        MemorySwap: sandbox.memoryBytes,
        NanoCpus: Math.round(sandbox.cpus * 1e9),
        Ulimits: [
          { Name: 'core', Soft: 0, Hard: 0 },
          { Name: 'nofile', Soft: 4096, Hard: 16_384 },
        ],
        Tmpfs: tmpfsOf(sandbox, parts.user),
        Mounts: sandbox.workspace === 'none' ? undefined : [workspaceMount(owner, sandbox)],
        LogConfig: { Type: 'none', Config: {} },
        Runtime: parts.runtime,
      },
    },
  };
}

/** The environment of every command in a container, which sees nothing of the worker's own. */
export const BOX_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: DEFAULT_PATH,
  HOME: '/tmp',
  TMPDIR: '/tmp',
  USER: 'agent',
  LOGNAME: 'agent',
  LANG: 'C.UTF-8',
};

/**
 * A quarter of the memory, of which it is a part: a full /tmp must not use all of it. It is owned by the user, because
 * the engine gives it the mode of the folder in the image.
 */
function tmpfsOf({ workspace, memoryBytes }: BoxSettings, user: string): Record<string, string> {
  const [uid, gid] = user.split(':');
  const options = `rw,noexec,nosuid,nodev,mode=1777,uid=${uid},gid=${gid},size=${Math.floor(memoryBytes / 4)}`;
  return workspace === 'none' ? { '/tmp': options, [MOUNT]: options } : { '/tmp': options };
}

function workspaceMount({ workspace }: BoxOwner, sandbox: BoxSettings) {
  return {
    Type: 'bind' as const,
    Source: workspace,
    Target: MOUNT,
    ReadOnly: sandbox.workspace === 'ro',
    BindOptions: { Propagation: 'rprivate' as const },
  };
}

function digest(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24);
}
