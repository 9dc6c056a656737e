/** The boxes of this installation, and their reaper. */
import { createHash } from 'node:crypto';
import type { Config } from '#config';
import { type Boxes, createBoxes } from '#activities/sandbox/boxes.ts';
import { createEngine, EngineProblem } from '#activities/sandbox/engine.ts';
import { createEngineLook } from '#activities/sandbox/look-at-engine.ts';

/** Workers with the same workspaces share their boxes. */
export function createWorkerBoxes({ sandbox, workspaceRoot }: Config): Boxes {
  const engine = createEngine(sandbox.dockerHost);
  return createBoxes({
    engine,
    look: createEngineLook(engine, Date.now),
    installation: createHash('sha256').update(workspaceRoot).digest('hex').slice(0, 24),
    life: { idleSeconds: sandbox.idleMinutes * 60, maxAgeSeconds: sandbox.maxAgeHours * 3600 },
    now: Date.now,
  });
}

/** Ends a session's boxes, as far as the engine lets us: what is left ends by itself when it is idle. */
export function sessionBoxes(boxes: Boxes): (tenant: string, sessionKey: string) => Promise<void> {
  return async (tenant, sessionKey) => {
    try {
      await boxes.endSession(tenant, sessionKey);
    } catch (error) {
      // No engine: no boxes either, or none that can be reached.
      if (!(error instanceof EngineProblem)) throw error;
    }
  };
}
