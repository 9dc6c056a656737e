/** Submits a call of a tool outside a conversation: a message whose turn does nothing else. */
import { Failure } from '#domain/errors.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import type { Caller } from './server/auth.ts';
import type { ApiDeps } from './deps.ts';
import { submitMessage } from './submit-message.ts';

export interface ToolCallSubmission {
  /** The id of the call's message. */
  readonly id: string;
  readonly repeatable: boolean;
  readonly session: string;
  /** The agent whose tools are meant. */
  readonly agent: string;
  /** The tool's name or alias. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** How the call came in, for the transcript. */
  readonly by: string;
  readonly context: MessageContext;
}

/**
 * Returns the id of its turn. Throws InvalidInput and NotFound before anything is written, and as `submitMessage` does.
 */
export async function submitToolCall(
  deps: ApiDeps,
  { tenant, confinedTo }: Caller,
  { id, repeatable, session, agent, tool, args, by, context }: ToolCallSubmission,
): Promise<string> {
  const checked = await deps.tools.check(tenant, agent, tool, args);
  if (!checked.ok && checked.code === 'NotFound') throw new Failure('NotFound', checked.message);
  if (!checked.ok) {
    const errors = [{ pointer: 'body/args', message: checked.message }];
    throw new Failure('InvalidInput', checked.message, { errors });
  }
  const { receipt } = await submitMessage(deps, tenant, {
    id,
    repeatable,
    session,
    text: `${checked.tool} by ${by}`,
    mode: 'queue',
    context,
    calls: [{ tool, args }],
    confinedTo,
  });
  return receipt.turn_id;
}
