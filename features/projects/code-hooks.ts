/** Hooks of the folder, as hooks of its agents. */
import { HOOK_LIMITS } from '#domain/schema/hook.ts';
import type { CodeHookDefinition } from '#features/code-tools/index.ts';
import type { Project, ProjectAgent } from './read-project.ts';

/** Each agent gets the hooks that are for it, after those of its own file. `host` is the tool host of the folder. */
export function withCodeHooks(project: Project, host: string, hooks: readonly CodeHookDefinition[]): Project {
  if (hooks.length === 0) return project;
  const keys = new Set(project.agents.map(({ key }) => key));
  // A file that is wrong is there.
  const isThere = (key: string): boolean =>
    keys.has(key) || project.problems.some((problem) => problem.startsWith(`agents/${key}.md:`));
  const unknown = hooks.flatMap(({ name, agents = [] }) =>
    agents.filter((key) => !isThere(key)).map((key) => `hooks/${name}.ts: there is no agents/${key}.md`),
  );
  const agents = project.agents.map((agent) => withHooks(agent, host, hooks));
  const full = agents
    .filter((agent) => (agent.hooks?.length ?? 0) > HOOK_LIMITS.hooks)
    .map(({ key }) => `agents/${key}.md: with those of hooks/ it has more than ${HOOK_LIMITS.hooks} hooks`);
  return { ...project, agents, problems: [...project.problems, ...unknown, ...full] };
}

function withHooks(agent: ProjectAgent, host: string, hooks: readonly CodeHookDefinition[]): ProjectAgent {
  const own = hooks
    .filter(({ agents }) => agents === undefined || agents.includes(agent.key))
    .map(({ name, event, tools, timeout_seconds }) => ({
      event,
      type: 'code' as const,
      code: `${host}/${name}`,
      ...(tools !== undefined && { tools }),
      ...(timeout_seconds !== undefined && { timeout_seconds }),
    }));
  return own.length === 0 ? agent : { ...agent, hooks: [...(agent.hooks ?? []), ...own] };
}
