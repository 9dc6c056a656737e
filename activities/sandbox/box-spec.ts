/**
 * What a box is to the engine (SECURITY R4). Pure: the same owner, workspace and settings give the same name, by which
 * every worker of the installation finds it.
 */
import { createHash } from 'node:crypto';
import type { ContainerCreateOptions } from 'dockerode';
import { DEFAULT_PATH } from '#policy/command-environment.ts';
import { MOUNT, type Sandbox } from '#domain/sandbox.ts';
import { KEEPER } from './box-scripts.ts';

/** Whose box; a RunningCall is one. */
export interface BoxOwner {
  readonly tenant: string;
  readonly agent: string;
  readonly sessionKey: string;
  /** Absolute path of the folder that the box shows at MOUNT. */
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

/** What the reaper finds boxes by. */
export const LABEL = 'tempoclaw.sandbox';

/** Only on boxes of one session: the `sessionDigest` of it. */
export const SESSION_LABEL = 'tempoclaw.session';

export function sessionDigest(tenant: string, sessionKey: string): string {
  return digest([tenant, sessionKey]);
}

/** In the engine's form; `image` is the id that the image's name had when it was looked at. */
export function boxSpec(parts: {
  readonly installation: string;
  readonly owner: BoxOwner;
  readonly sandbox: Sandbox;
  readonly image: string;
  readonly runtime: 'runsc' | undefined;
  /** `uid:gid` of the workspace's files. */
  readonly user: string;
  readonly life: BoxLife;
}): BoxSpec {
  const { owner, sandbox, life } = parts;
  const key = scopeKey(owner, sandbox);
  const config = digest([sandbox, parts.image, parts.runtime, parts.user, owner.workspace, life, KEEPER]);
  const name = `tempoclaw-${digest([parts.installation, key, config])}`;
  return {
    name,
    options: {
      name,
      Image: parts.image,
      Entrypoint: ['/bin/sh', '-c', KEEPER, 'tempoclaw'],
      Cmd: [String(life.idleSeconds), String(life.maxAgeSeconds)],
      User: parts.user,
      WorkingDir: '/',
      Hostname: 'sandbox',
      Env: Object.entries(BOX_ENVIRONMENT).map(([variable, value]) => `${variable}=${value}`),
      Labels: {
        [LABEL]: parts.installation,
        'tempoclaw.tenant': owner.tenant,
        'tempoclaw.scope': sandbox.scope,
        'tempoclaw.key': digest(key),
        'tempoclaw.config': config,
        ...(sandbox.scope === 'session'
          ? { [SESSION_LABEL]: sessionDigest(owner.tenant, owner.sessionKey) }
          : {}),
      },
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
        // The same as Memory: no swap beside it.
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

/** What every command in a box sees; of the worker's own environment it sees nothing. */
export const BOX_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: DEFAULT_PATH,
  HOME: '/tmp',
  TMPDIR: '/tmp',
  USER: 'agent',
  LOGNAME: 'agent',
  LANG: 'C.UTF-8',
};

function scopeKey({ tenant, agent, sessionKey }: BoxOwner, { scope }: Sandbox): readonly string[] {
  if (scope === 'session') return [tenant, scope, agent, sessionKey];
  return scope === 'agent' ? [tenant, scope, agent] : [tenant, scope];
}

/**
 * A quarter of the memory, which it counts towards: a full /tmp must not take all of it. Owned by the user, since the
 * engine gives it the mode that the folder has in the image.
 */
function tmpfsOf({ workspace, memoryBytes }: Sandbox, user: string): Record<string, string> {
  const [uid, gid] = user.split(':');
  const options = `rw,noexec,nosuid,nodev,mode=1777,uid=${uid},gid=${gid},size=${Math.floor(memoryBytes / 4)}`;
  return workspace === 'none' ? { '/tmp': options, [MOUNT]: options } : { '/tmp': options };
}

function workspaceMount({ workspace }: BoxOwner, sandbox: Sandbox) {
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
