/** Whether containers are possible: engine, image, runtime. The answer is cached, so repeated calls cost nothing. */
import { EngineProblem, type Engine } from './engine.ts';

export type EngineProbe =
  | {
      readonly ok: true;
      readonly image: string;
      /** Set when it was requested and the engine has it. */
      readonly runtime: 'runsc' | undefined;
      readonly runtimes: readonly string[];
      readonly version: string;
      /** The engine runs without root: its root is its user, and other ids in a container belong to nobody outside. */
      readonly rootless: boolean;
    }
  | { readonly ok: false; readonly lacks: 'engine' | 'image'; readonly reason: string };

export interface EngineProber {
  /** `fresh`: check again when the last answer was no. Never throws. */
  probe(image: string, runtime: 'runsc' | undefined, fresh: boolean): Promise<EngineProbe>;
  /** Drops the cached answer, which may no longer be true. */
  forget(): void;
}

/** How long an answer is cached. */
const YES_MS = 60_000;
const NO_MS = 30_000;

interface EngineFacts {
  readonly probe: Promise<EngineProbe>;
  until: number;
  yes: boolean;
}

/** `makeImage` says how to build the image, for people. */
export function createEngineProber(engine: Engine, now: () => number, makeImage?: string): EngineProber {
  const known = new Map<string, EngineFacts>();
  const keep = async (entry: EngineFacts): Promise<EngineProbe> => {
    const probe = await entry.probe;
    entry.yes = probe.ok;
    entry.until = now() + (probe.ok ? YES_MS : NO_MS);
    return probe;
  };
  return {
    probe(image, runtime, fresh) {
      const key = `${image} ${runtime ?? ''}`;
      const old = known.get(key);
      if (old !== undefined && old.until > now() && (old.yes || !fresh)) return old.probe;
      const pending = probeEngine(engine, image, runtime, makeImage);
      // Concurrent callers wait for the same answer.
      const entry = { probe: pending, until: now() + NO_MS, yes: true };
      known.set(key, entry);
      return keep(entry);
    },
    forget: () => known.clear(),
  };
}

async function probeEngine(
  engine: Engine,
  image: string,
  runtime: 'runsc' | undefined,
  makeImage: string | undefined,
): Promise<EngineProbe> {
  try {
    const [info, found] = await Promise.all([
      engine.ask((docker) => docker.info() as Promise<EngineInfo>),
      engine.ask((docker) => docker.getImage(image).inspect()),
    ]);
    const runtimes = Object.keys(info.Runtimes ?? {});
    return {
      ok: true,
      image: found.Id,
      runtime: runtime !== undefined && runtimes.includes(runtime) ? runtime : undefined,
      runtimes,
      version: info.ServerVersion ?? 'unknown',
      rootless: (info.SecurityOptions ?? []).some((option) => option.includes('name=rootless')),
    };
  } catch (error) {
    if (!(error instanceof EngineProblem)) throw error;
    if (error.status !== 404) return { ok: false, lacks: 'engine', reason: error.message };
    const hint = makeImage === undefined ? '' : `; make it with: ${makeImage}`;
    const reason = `the engine has no image ${image}${hint}`;
    return { ok: false, lacks: 'image', reason };
  }
}

interface EngineInfo {
  readonly ServerVersion?: string;
  readonly Runtimes?: Readonly<Record<string, unknown>>;
  readonly SecurityOptions?: readonly string[] | null;
}
