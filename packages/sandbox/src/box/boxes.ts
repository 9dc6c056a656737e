/**
 * One container per key, created when it is first needed and found again by its name. Any number of workers may request
 * the same one concurrently: the engine lets one create it.
 */
import { realpath } from 'node:fs/promises';
import type { ContainerInfo } from 'dockerode';
import {
  type BoxLife,
  type BoxOwner,
  boxSpec,
  type BoxSpec,
  groupLabel,
  installationLabel,
} from './box-spec.ts';
import { type Engine, EngineProblem } from './engine.ts';
import type { EngineProber, EngineProbe } from './probe-engine.ts';
import { boxUser, makeWorkspace, ownWorkspace } from './own-workspace.ts';
import type { BoxSettings } from '../settings/settings.ts';

export interface Boxes {
  /** Name that marks what runs in them (marks.ts). */
  readonly name: string;
  readonly engine: Engine;
  /** Whether a container is possible. Never throws, and a repeated call costs nothing. */
  probe(sandbox: BoxSettings): Promise<EngineProbe>;
  /** The name of the owner's container, which was just running. Throws EngineProblem. Safe to repeat. */
  obtain(owner: BoxOwner, sandbox: BoxSettings, probe: Extract<EngineProbe, { ok: true }>): Promise<string>;
  /** The specification that `obtain` would use for the owner's folder, which then belongs to the container's user. */
  describe(
    owner: BoxOwner,
    sandbox: BoxSettings,
    check: Extract<EngineProbe, { ok: true }>,
  ): Promise<BoxSpec>;
  /** The container was found not running: what is cached about it is wrong. */
  forget(name: string): void;
  /** The engine did not answer. */
  lost(): void;
  /** Removes a container with everything in it. Throws EngineProblem. */
  remove(name: string): Promise<void>;
  /**
   * Ends the containers of a group as far as the engine permits; the others end by themselves when they are idle. Safe
   * to repeat.
   */
  endGroup(group: string): Promise<void>;
  /** Whether this worker has used any. */
  readonly used: boolean;
  /**
   * Removes containers of this installation that have ended or are far too old; returns how many. They end by
   * themselves; this is for those whose engine ended first.
   */
  prune(): Promise<number>;
}

export interface BoxesOptions {
  /** Prefix of names and labels of containers, and of marks of what runs in them (marks.ts). */
  readonly name: string;
  readonly engine: Engine;
  readonly prober: EngineProber;
  /** Distinguishes this installation's containers from others' on the same engine: the same for all its workers. */
  readonly installation: string;
  readonly life: BoxLife;
  readonly now: () => number;
}

/** Time for all steps of creating a container, so that a hanging engine is detected within ten seconds. */
const OBTAIN_MS = 8_000;
/** Wait for a container that another worker creates, or that is being removed. */
const AGAIN_MS = 100;
/** Number of cached containers; the oldest is dropped and, when needed, looked up again. */
const REMEMBERED = 2_000;

export function createBoxes(options: BoxesOptions): Boxes {
  const { engine, name, installation, life, now } = options;
  const known = new Map<string, Promise<void>>();
  let used = false;
  const endThose = async (label: string[], isOver: (box: ContainerInfo) => boolean): Promise<number> => {
    try {
      const found = await engine.ask((docker, abortSignal) =>
        docker.listContainers({ all: true, filters: { label }, abortSignal }),
      );
      const ended = found.filter(isOver);
      for (const { Id, Names } of ended) {
        for (const box of Names) known.delete(box.slice(1));
        await removed(engine, Id);
      }
      return ended.length;
    } catch (error) {
      // Without a reachable engine there are no containers.
      if (!(error instanceof EngineProblem)) throw error;
      return 0;
    }
  };
  const specOf = async (owner: BoxOwner, sandbox: BoxSettings, probe: Extract<EngineProbe, { ok: true }>) => {
    await makeWorkspace(owner.workspace);
    const workspace = await realpath(owner.workspace);
    const user = await boxUser(workspace, probe.rootless);
    const spec = boxSpec({
      name,
      installation,
      owner: { ...owner, workspace },
      sandbox,
      image: probe.image,
      runtime: probe.runtime,
      user: `${user.uid}:${user.gid}`,
      life,
    });
    return { spec, prepare: () => ownWorkspace(workspace, user) };
  };
  return {
    engine,
    name,
    get used() {
      return used;
    },
    probe: ({ image, runtime, mode }) => options.prober.probe(image, runtime, mode === 'required'),

    async describe(owner, sandbox, probe) {
      const { spec, prepare } = await specOf(owner, sandbox, probe);
      await prepare();
      return spec;
    },

    async obtain(owner, sandbox, probe) {
      const { spec, prepare } = await specOf(owner, sandbox, probe);
      const started = known.get(spec.name) ?? makeRun(engine, spec, prepare);
      known.delete(spec.name);
      known.set(spec.name, started);
      if (known.size > REMEMBERED) known.delete(known.keys().next().value as string);
      try {
        await started;
      } catch (error) {
        known.delete(spec.name);
        throw error;
      }
      used = true;
      return spec.name;
    },

    forget: (box) => void known.delete(box),

    lost() {
      known.clear();
      options.prober.forget();
    },

    async remove(box) {
      known.delete(box);
      await removed(engine, box);
    },

    async endGroup(group) {
      await endThose([installationLabel(name, installation), groupLabel(name, group)], () => true);
    },

    prune: () =>
      endThose(
        [installationLabel(name, installation)],
        // Containers that have not started may belong to another worker that is creating them.
        ({ State, Created }) =>
          ['exited', 'dead'].includes(State) ||
          (State === 'created' && now() / 1000 - Created > 60) ||
          now() / 1000 - Created > 2 * life.maxAgeSeconds + 60,
      ),
  };
}

async function makeRun(engine: Engine, spec: BoxSpec, prepare: () => Promise<void>): Promise<void> {
  const until = performance.now() + OBTAIN_MS;
  const remaining = (): number => Math.max(1, until - performance.now());
  for (;;) {
    const state = await stateOf(engine, spec.name);
    if (state === 'running') return;
    if (state === 'absent') {
      await prepare();
      if (await made(engine, spec, remaining())) continue;
    } else if (state === 'created') {
      if (await hasStarted(engine, spec.name, remaining())) return;
    } else await removed(engine, spec.name);
    if (remaining() === 1)
      throw new EngineProblem('unreachable', `the sandbox ${spec.name} could not be made in ${OBTAIN_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

async function stateOf(engine: Engine, name: string): Promise<string> {
  try {
    const { State } = await engine.ask((docker, abortSignal) =>
      docker.getContainer(name).inspect({ abortSignal }),
    );
    return State.Status;
  } catch (error) {
    if (error instanceof EngineProblem && error.status === 404) return 'absent';
    throw error;
  }
}

/** False when another worker has just created it. */
async function made(engine: Engine, spec: BoxSpec, ms: number): Promise<boolean> {
  try {
    await engine.ask((docker, abortSignal) => docker.createContainer({ ...spec.options, abortSignal }), ms);
    return true;
  } catch (error) {
    if (error instanceof EngineProblem && error.status === 409) return false;
    throw error;
  }
}

/** False when it was removed in between. */
async function hasStarted(engine: Engine, name: string, ms: number): Promise<boolean> {
  try {
    await engine.ask((docker, abortSignal) => docker.getContainer(name).start({ abortSignal }), ms);
    return true;
  } catch (error) {
    // 304: another worker has started it.
    if (error instanceof EngineProblem && error.status === 304) return true;
    if (error instanceof EngineProblem && (error.status === 404 || error.status === 409)) return false;
    throw error;
  }
}

async function removed(engine: Engine, name: string): Promise<void> {
  try {
    await engine.ask((docker, abortSignal) =>
      docker.getContainer(name).remove({ force: true, v: true, abortSignal }),
    );
  } catch (error) {
    // 409: it is already being removed.
    if (!(error instanceof EngineProblem && (error.status === 404 || error.status === 409))) throw error;
  }
}
