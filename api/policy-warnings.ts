/** Rules of a policy that perhaps do not do what was meant, as the API tells them beside it. */
import { policyWarnings } from '#domain/policy/check-policy.ts';
import type { ToolPolicy } from '#domain/agent.ts';
import type { ApiDeps } from './deps.ts';

/** Bounds what one answer carries; each is a line. */
const MAX_WARNINGS = 50;

/** `agent` is the one whose own tools count too; those of all agents when absent. */
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
