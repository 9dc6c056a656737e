/** Finds stored hooks that can no longer be called, as the running API sees them: they deny all that they should judge. */
import type { Page } from '#cli/wire.ts';
import { type Finding, finding } from './finding.ts';
import { runningClient } from './running-client.ts';

interface Warned {
  readonly warnings?: readonly string[];
}

interface ListedAgent {
  readonly key: string;
  readonly hooks?: readonly unknown[];
}

/** Agents with hooks that are looked at, each by a request. */
const MAX_AGENTS = 50;
const OF_HOOKS = /^(in the settings, )?hooks\//;
const REMEDY =
  'Until it is put right nothing passes it: set the secret, configure the provider, or change the hook.';

/** Of the tenant `default`. Throws when the API does not answer. */
export async function checkHooks(stateDir: string): Promise<readonly Finding[]> {
  const client = runningClient(stateDir);
  const [policy, { data }] = await Promise.all([
    client.get<Warned>('/v1/policy'),
    client.get<Page<ListedAgent>>('/v1/agents', { limit: 200 }),
  ]);
  const keys = data.filter(({ hooks = [] }) => hooks.length > 0).map(({ key }) => key);
  const agents = await Promise.all(
    keys.slice(0, MAX_AGENTS).map(async (key) => {
      const { warnings = [] } = await client.get<Warned>(`/v1/agents/${encodeURIComponent(key)}`);
      return warnings.map((words) => ({ of: `agent ${key}`, words }));
    }),
  );
  return [...(policy.warnings ?? []).map((words) => ({ of: 'the policy', words })), ...agents.flat()]
    .filter(({ words }) => OF_HOOKS.test(words))
    .map(({ of, words }) => finding('Hooks', 'warn', `${of}, ${words}`, REMEDY));
}
