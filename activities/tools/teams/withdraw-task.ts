/** withdraw_task: cancels a task that a call has created (DU-9). A task that has ended otherwise stays as it is. */
import { z } from 'zod';
import { defineTool } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { Failure } from '#domain/errors.ts';
import { readTaskRef, TEAM_LIMITS } from '#domain/team/team.ts';
import { WITHDRAW_TASK } from '#domain/team/team-task.ts';
import { toolError } from '#domain/tool.ts';

const input = z.object({
  task: z.string().min(1).max(128).describe('The task'),
  call: z.string().min(1).max(200).describe('Id of the call that created it'),
});

export const tool = defineTool<z.infer<typeof input>, Pick<ToolDeps, 'teams'>>({
  name: WITHDRAW_TASK,
  description: 'Cancel a task that a call has created.',
  group: 'teams',
  // The change has the call's id, so a repeat has no further effect.
  replay: 'idempotent',
  isReversal: true,
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ task }) => task,
  run: async ({ teams }, { task }, call) => {
    const { team: key, number } = readTaskRef(task) ?? {};
    const membership = await teams.membership(call, key);
    if (typeof membership === 'string') return toolError('PermissionDenied', membership);
    const { team } = membership;
    if (number === undefined || key !== team.key || !(await teams.find(call, team.key, number)))
      return toolError('NotFound', `team ${team.key} has no task ${task.slice(0, TEAM_LIMITS.subject)}`);
    try {
      const { status } = await teams.act(call, team.key, number, 'cancel', {
        text: 'its creation was undone',
      });
      if (status === 'cancelled') return { ok: true, text: `Task cancelled: ${task}` };
      return toolError('ExecutionFailed', `task ${task} is ${status}; nothing was cancelled`);
    } catch (error) {
      if (!(error instanceof Failure) || error.type === 'Unavailable') throw error;
      return toolError('ExecutionFailed', error.message);
    }
  },
});
