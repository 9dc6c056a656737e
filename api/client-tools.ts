/** Checks the tools that a message brings. */
import { Failure } from '#domain/errors.ts';
import type { ClientTool } from '#domain/schema/client-tool.ts';
import type { ApiDeps } from './deps.ts';
import { MAIN_AGENT } from './tenant-defaults.ts';

/** Throws Unprocessable for a name that a tool of the agent has, because the model could not tell them apart. */
export async function refuseTakenNames(
  { tools: directory }: Pick<ApiDeps, 'tools'>,
  tenant: string,
  agent: string = MAIN_AGENT,
  tools: readonly ClientTool[] = [],
): Promise<void> {
  for (const [at, { name }] of tools.entries())
    if (await directory.find(tenant, agent, name))
      throw new Failure('Unprocessable', `${name} is a tool of TempoClaw; give yours another name`, {
        errors: [{ pointer: `body/client_tools/${at}/name`, message: 'is the name of a tool of the agent' }],
      });
}
