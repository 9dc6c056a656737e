/** Turns: the outcome of a message, and the ledger of its tool calls. */
import { isMessageId } from '../ids.ts';
import { toolCallSchema, turnSchema } from '../schema/turn.ts';
import { defineResource } from './define-resource.ts';

export const turns = defineResource(
  {
    path: '/v1/turns',
    tag: 'turns',
    item: turnSchema,
    key: 'id',
    isKey: isMessageId,
    missing: 'There is no turn with this id',
  },
  ({ show, listOf }) => ({
    getTurn: show({ scope: 'read', summary: 'Get a turn', command: { help: 'one turn and its tool calls' } }),
    listTurnToolCalls: listOf('tool-calls', toolCallSchema, {
      scope: 'read',
      summary: 'List a turn’s tool calls in the order they were asked for',
      command: { by: 'turns show' },
    }),
  }),
);
