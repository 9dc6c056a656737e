/** handoff: the conversation continues with another agent until the route is cleared (DE-5). */
import { z } from 'zod';
import { defineTool, textField } from '#policy/define-tool.ts';
import type { Handoffs } from '../transfer.ts';
import { HANDOFF_LIMITS, HANDOFF_WORDS } from '../contract.ts';
import { toolError } from '#domain/tool.ts';

const input = z.object({
  agent: textField(64, 'For transfer: key of the agent that takes over').optional(),
  action: textField(
    64,
    'transfer: the next messages of this chat go to the agent; clear: they come back to the default agent',
  ).default('transfer'),
  reason: textField(HANDOFF_LIMITS.reason, 'For transfer: why, for the agent to know').optional(),
  transfer_context: z.boolean().default(true).describe('Whether the agent is given what was said so far'),
});

export const tool = defineTool<z.infer<typeof input>, { readonly handoffs: Handoffs }>({
  name: 'handoff',
  description:
    'Hand this conversation to another agent that fits it better. It speaks with the user from then on.',
  keywords:
    'transfer pass forward escalate redirect customer support user chat takes over switch colleague bot hand another assistant someone else responsible sales billing speak talk to guest let',
  group: 'delegation',
  replay: 'idempotent',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ action, agent }) => (agent === undefined ? action : `${action} to ${agent}`),
  run: async ({ handoffs }, { action, agent, reason, transfer_context }, call) => {
    const { channel, chatId } = call;
    if (action === 'clear') {
      if (channel === null || chatId === null) return toolError('InvalidArgs', HANDOFF_WORDS.clearNoChannel);
      await handoffs.clear(call, channel, chatId);
      return { ok: true, text: HANDOFF_WORDS.cleared };
    }
    if (action !== 'transfer') return toolError('InvalidArgs', HANDOFF_WORDS.unknownAction(action));
    const to = agent?.trim() ?? '';
    if (to === '') return toolError('InvalidArgs', HANDOFF_WORDS.noAgent);
    const why = reason?.replaceAll('\0', '').trim() ?? '';
    if (why === '') return toolError('InvalidArgs', HANDOFF_WORDS.noReason);
    const request = { channel, chatId, to, reason: why, withContext: transfer_context };
    const refusal = await handoffs.transfer(call, request);
    if (refusal) return toolError(refusal.code, refusal.message);
    return { ok: true, text: HANDOFF_WORDS.done(to) };
  },
});
