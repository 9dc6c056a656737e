/** Tools that the sender of a message runs, as tools of the catalog: judged, recorded and shown like all others. */
import { toolError } from '#domain/tool.ts';
import type { ClientTool } from '#domain/schema/client-tool.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import { CLIENT_GROUP } from '#domain/policy/tool-groups.ts';
import type { Catalog } from './catalog.ts';
import type { Tool } from './define-tool.ts';
import { uncheckedArguments } from './unchecked-arguments.ts';

/** Of tools with one name, that of the agent is used. */
export function withClientTools(
  catalog: Catalog,
  { client_tools: tools = [] }: Pick<MessageContext, 'client_tools'>,
): Catalog {
  return tools.length === 0 ? catalog : catalog.with(tools.map(catalogedClientTool));
}

export function isOfClient({ group }: Pick<Tool, 'group'>): boolean {
  return group === CLIENT_GROUP;
}

function catalogedClientTool({ name, description, parameters }: ClientTool): Tool {
  return {
    name,
    description: description || name,
    group: CLIENT_GROUP,
    outside: true,
    replay: 'once',
    input: uncheckedArguments(parameters),
    limits: { duration: 'short', timeoutSeconds: 10 },
    // Its sender answers in its place. Only a call whose approval was changed from outside arrives here.
    run: async () => toolError('ExecutionFailed', `${name} runs where the message came from, and not here`),
  };
}
