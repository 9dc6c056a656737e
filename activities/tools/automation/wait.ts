/** wait: the workflow waits with a durable timer, so it occupies no worker; the tool only checks the request. */
import { z } from 'zod';
import { defineTool, textField } from '#policy/define-tool.ts';

const input = z.object({
  timeMs: z.int().min(100).max(300_000).describe('How long to wait, in milliseconds (100 to 300000)'),
  reason: textField(500, 'What is waited for').optional(),
});

export const tool = defineTool<z.infer<typeof input>>({
  name: 'wait',
  description:
    'Wait before going on, for example until something outside is ready. Survives restarts and can be stopped.',
  keywords:
    'sleep pause delay hold timer seconds minutes hours retry later until finished ready done deployment build before trying again patience stop briefly nothing do',
  group: 'automation',
  replay: 'idempotent',
  input,
  limits: { duration: 'short', timeoutSeconds: 5 },
  summary: ({ timeMs, reason }) => `${timeMs} ms${reason === undefined ? '' : `: ${reason}`}`,
  serial: true,
  run: async (_deps, { timeMs }, call) => ({
    ok: true,
    text: `Waited ${timeMs} ms.`,
    child: { type: 'wait', id: `wait/${call.tenant}/${call.callId}`, input: { ms: timeMs }, wait: true },
  }),
});
