/** Checks the tools that a message brings. */
import { Failure } from '#domain/errors.ts';
import type { ClientTool } from '#domain/schema/client-tool.ts';
import type { ApiDeps } from './deps.ts';
import { MAIN_AGENT } from './tenant-defaults.ts';

/** Throws Unprocessable for a name that a tool of the agent has, because the model could not tell them apart. */
export async function refuseTakenNames(
  { policy }: Pick<ApiDeps, 'policy'>,
  tenant: string,
  agent: string = MAIN_AGENT,
  tools: readonly ClientTool[] = [],
): Promise<void> {
  if (tools.length === 0) return;
  const catalog = await policy.catalogs.of(tenant, agent);
  const taken = tools.flatMap(({ name }) => (catalog.find(name) ? [name] : []));
  if (taken.length > 0)
    throw new Failure(
      'Unprocessable',
      `The agent has tools of these names; give yours others: ${taken.join(', ')}`,
      {
        errors: taken.map((name) => ({
          pointer: `body/client_tools/${name}`,
          message: 'is a tool of the agent',
        })),
      },
    );
}
