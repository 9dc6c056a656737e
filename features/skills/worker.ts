/** Provides skills in a worker: what their tools need, and what the prompt says of them. */
import { join } from 'node:path';
import { createFiles } from '#activities/workspace/files.ts';
import type { WorkerPart } from '#domain/feature.ts';
import { createFileLock } from '#store/files/file-lock.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createSkills } from './activities/skills.ts';
import { SKILL_SEARCH, USE_SKILL } from './rules/skill.ts';
import { skillsGuide } from './rules/words.ts';

const READERS = [USE_SKILL, SKILL_SEARCH];

export function createWorkerPart(core: WorkerCore): WorkerPart {
  const { config, pool, workspaceOf } = core;
  // The folders of the settings are on this machine, wherever workspaces are.
  const hostFiles = createFiles({
    journalDir: join(config.stateDir, 'changes'),
    now: Date.now,
    lock: createFileLock(pool),
  });
  const skills = createSkills({ ...core, hostFiles, folders: config.skills.folders });
  return {
    tools: { skills },
    async promptPiece({ tenant, session, agent, user, context, tools_version, offered }) {
      if (!offered.some((name) => READERS.includes(name))) return undefined;
      const { workspace, workspaceFrom } = workspaceOf(tenant, agent, { ...context, session });
      const scope = { tenant, agent: agent.key, user, workspace, workspaceFrom };
      const found = await skills.list(scope, tools_version);
      if (found.length === 0) return { unneeded: READERS };
      return { text: offered.includes(USE_SKILL) ? skillsGuide(found) : undefined };
    },
  };
}
