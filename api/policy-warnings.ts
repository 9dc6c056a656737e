/** Warns about rules of a policy that may not do what was meant. The API returns the warnings with the policy. */
import { policyWarnings } from '#domain/policy/check-policy.ts';
import type { ToolPolicy } from '#domain/agent.ts';
import type { Hook } from '#domain/turn/hook.ts';
import type { ApiDeps } from './deps.ts';
import { hookProblems } from './refuse-hooks.ts';

/** Limits what one answer contains; each warning is a line. */
const MAX_WARNINGS = 50;

/** `agent` is the agent whose own tools also count. If it is absent, the tools of all agents count. */
export async function warningsOf(
  { tools }: Pick<ApiDeps, 'tools'>,
  tenant: string,
  policy: ToolPolicy | undefined,
  agent = '',
): Promise<string[]> {
  if (policy === undefined) return [];
  return policyWarnings(policy, await tools.policyTools(tenant, agent))
    .slice(0, MAX_WARNINGS)
    .map(({ path, message }) => `tools.${path.join('.')}: ${message}`);
}

/**
 * Why stored hooks can no longer be called, so that they deny what they should judge: their secret was deleted, the
 * provider of their model is not configured any more, or their address was closed.
 */
export async function hookWarnings(
  deps: Pick<ApiDeps, 'pool' | 'policy' | 'models'>,
  tenant: string,
  hooks: readonly Hook[] | undefined,
): Promise<string[]> {
  const problems = await hookProblems(deps, tenant, hooks, { place: '' });
  return problems
    .slice(0, MAX_WARNINGS)
    .map(({ pointer, message }) => `${pointer.slice(1)}: it denies all that it is to judge: ${message}`);
}
