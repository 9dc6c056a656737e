/** Turns as tasks (extension io.modelcontextprotocol/tasks of MCP 2026-07-28), which clients read and cancel. */
import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { TurnRow } from '#store/turns/turn-store.ts';
import { isMessageId } from '#domain/ids.ts';
import { requireScope, signatureOf } from '#api/server/auth.ts';
import { reachableTurn } from '#api/found.ts';
import { hasEnded } from '#api/turn-wait.ts';
import { toProtocolError, type McpRequest } from './mcp-request.ts';
import { resultOf, taskOf } from './turn-answer.ts';

const TASKS = 'io.modelcontextprotocol/tasks';

/** Added to the server's capabilities. */
export const TASKS_OFFER = { [TASKS]: {} };

/** Whether the current client accepts a task as an answer. */
export function takesTasks(server: Server): boolean {
  return server.getClientCapabilities()?.extensions?.[TASKS] !== undefined;
}

const params = z.looseObject({ taskId: z.string() });

export function addTasks(server: Server, request: McpRequest): void {
  const serve = (
    method: string,
    scope: 'read' | 'run',
    answer: (turn: TurnRow) => Promise<Record<string, unknown>>,
  ): void =>
    server.setRequestHandler(method, { params }, async ({ taskId }) => {
      if (!takesTasks(server))
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: TASKS_OFFER } });
      try {
        requireScope(request.caller, scope);
        return await answer(await taskOrError(request, taskId));
      } catch (error) {
        throw toProtocolError(request, error);
      }
    });

  serve('tasks/get', 'read', async (turn) => ({
    ...taskOf(turn),
    ...(taskOf(turn).status === 'completed'
      ? { result: { resultType: 'complete', ...(await resultOf(request, turn)) } }
      : {}),
  }));

  // Our tasks ask their client nothing, so an update has nothing to submit.
  serve('tasks/update', 'run', async () => ({}));

  serve('tasks/cancel', 'run', async (turn) => {
    const { deps, caller } = request;
    const stop = { level: 'now', turn_id: turn.id, by: signatureOf(caller) } as const;
    // A turn that has ended in the meantime stays as it is.
    if (!hasEnded(turn)) await deps.temporal.stop(caller.tenant, turn.session_key, stop);
    return {};
  });
}

async function taskOrError({ deps, caller }: McpRequest, id: string): Promise<TurnRow> {
  const turn = isMessageId(id) ? await reachableTurn(deps.pool, caller, id) : undefined;
  if (!turn) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no task with this id');
  return turn;
}
