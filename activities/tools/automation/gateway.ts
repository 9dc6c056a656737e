/** gateway: the deployment itself, for the agents of its operators. */
import { z } from 'zod';
import { defineTool, textField } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { Failure } from '#domain/errors.ts';
import { toolError } from '#domain/tool.ts';

const input = z.object({
  action: z
    .enum(['status', 'config.get', 'reload'])
    .describe('reload: read the settings again, in every process, without disturbing a turn'),
  path: textField(
    300,
    'config.get: which, such as models.default or tools; all of them unless given',
  ).default(''),
});

type Input = z.infer<typeof input>;

export const tool = defineTool<Input, Pick<ToolDeps, 'gateway'>>({
  name: 'gateway',
  description:
    'See what runs and which settings are in force (without secrets), or have the settings read again. For turns of the operator’s admins.',
  keywords:
    'config configuration reload restart server status health version setup setting admin options provider providers models enabled installed switched feature features channels plugins installation instance diagnose reread running tempoclaw',
  group: 'automation',
  // Reloading again has the same effect.
  replay: 'idempotent',
  onlyReads: ({ action }) => action !== 'reload',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ action, path }) => [action, path].filter(Boolean).join(' '),
  async run({ gateway }, { action, path }, { tenant, roles }) {
    const caller = { tenant, scopes: roles };
    try {
      const answer =
        action === 'config.get'
          ? gateway.config(caller, path)
          : await (action === 'status' ? gateway.status(caller) : gateway.reload(caller));
      return { ok: true, text: JSON.stringify(answer) };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.type === 'Forbidden') return toolError('PermissionDenied', error.message);
      if (error.type === 'NotFound') return toolError('NotFound', error.message);
      if (error.type === 'Unprocessable') return toolError('InvalidArgs', error.message);
      throw error;
    }
  },
});
