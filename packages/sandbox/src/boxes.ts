/**
 * One container a key, made when it is first needed and found again by its name. Any number of workers may ask
 * for the same one at once: the engine lets one make it.
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
import type { EngineLook, EngineProbe } from './probe-engine.ts';
import { boxUser, makeWorkspace, ownWorkspace } from './own-workspace.ts';
import type { BoxSettings } from './settings/settings.ts';

export interface Boxes {
  /** Marks what runs in them (marks.ts). */
  readonly name: string;
  readonly engine: Engine;
  /** Whether a box can be had. Never throws, and costs nothing when asked again. */
  look(sandbox: BoxSettings): Promise<EngineProbe>;
  /** The name of the owner's box, which ran a moment ago. Throws EngineProblem. Safe to repeat. */
  obtain(owner: BoxOwner, sandbox: BoxSettings, probe: Extract<EngineProbe, { ok: true }>): Promise<string>;
  /** What `obtain` would make, over the owner's folder, which is its user's then. */
  describe(
    owner: BoxOwner,
    sandbox: BoxSettings,
    check: Extract<EngineProbe, { ok: true }>,
  ): Promise<BoxSpec>;
  /** It was seen not to run: what is remembered of it is wrong. */
  forget(name: string): void;
  /** The engine was seen not to answer. */
  lost(): void;
  /** Ends a box with all in it. Throws EngineProblem. */
  remove(name: string): Promise<void>;
  /** Ends those of a group as far as the engine lets us: what is left ends by itself when it is idle. Safe to repeat. */
  endGroup(group: string): Promise<void>;
  /** Whether this worker has had any. */
  readonly used: boolean;
  /**
   * Removes boxes of this installation that have ended or are far too old; returns how many. They end by themselves; this is for those
   * whose engine ended first.
   */
  prune(): Promise<number>;
}

export interface BoxesOptions {
  /** Stands before names and labels of containers, and marks what runs in them (marks.ts). */
  readonly name: string;
  readonly engine: Engine;
  readonly look: EngineLook;
  /** Tells this installation's boxes from others' on the same engine: the same for all its workers. */
  readonly installation: string;
  readonly life: BoxLife;
  readonly now: () => number;
}

/** For all that making a box takes, so that an engine that hangs is known within ten seconds. */
const OBTAIN_MS = 8_000;
/** For a box that another worker makes, or that is just being removed. */
const AGAIN_MS = 100;
/** Remembered boxes; the oldest is forgotten and, when needed, looked up again. */
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
      // No engine: no boxes either, or none that can be reached.
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
    look: ({ image, runtime, mode }) => options.look.at(image, runtime, mode === 'required'),

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
      options.look.forget();
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
        // Those that have not begun may be another worker's, just being made.
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

/** False when another has just made it. */
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
    // 304: another has started it.
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
    // 409: it is being removed already.
    if (!(error instanceof EngineProblem && (error.status === 404 || error.status === 409))) throw error;
  }
}
